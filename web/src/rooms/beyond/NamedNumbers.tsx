/** Numbers of an answer: a few with their names, and a table of the largest weights. */
import type { ComponentChildren } from "preact";
import { format } from "#parts";
import { RowTable } from "../../shared/RowTable";

/** A name, and a number or a text; nothing before the first answer. */
export type Figure = readonly [name: string, value: number | string | null | undefined];

export function NamedNumbers({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="figures line number">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt class="small faint">{name}</dt>
          <dd>{typeof value === "number" ? format(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A table of the largest weights. Empty rows reserve the space until the numbers arrive. */
export function StrongestTable({
  title,
  columns,
  weights,
  count,
  cells,
  foot,
}: {
  title: string;
  columns: readonly ComponentChildren[];
  weights: Float32Array | undefined;
  count: number;
  cells(place: number, weight: number): ComponentChildren;
  /** The cells of a last row, for the weight on all other places. */
  foot?(rest: number): ComponentChildren;
}) {
  const strongest = [...(weights?.entries() ?? [])]
    .filter(([, weight]) => weight > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, count);
  const rest = 1 - strongest.reduce((sum, [, weight]) => sum + weight, 0);
  return (
    <RowTable title={title} columns={columns}>
      <tbody>
        {Array.from({ length: count }, (_, i) => (
          <tr key={i}>{strongest[i] ? cells(...strongest[i]) : <td>&nbsp;</td>}</tr>
        ))}
      </tbody>
      {foot && (
        <tfoot>
          <tr>{foot(Math.max(0, rest))}</tr>
        </tfoot>
      )}
    </RowTable>
  );
}
