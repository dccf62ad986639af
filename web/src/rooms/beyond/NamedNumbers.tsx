/** Numbers of an answer: a few with their names, or a table of the largest weights. */
import { format } from "heed/view/parts";
import type { ComponentChildren } from "preact";

/** A name, and a number or a text; nothing before the first answer. */
export type Figure = readonly [name: string, value: number | string | null | undefined];

export function NamedNumbers({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="figures number">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "number" ? format(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The rows of a table of the largest weights. Empty rows reserve the space until the numbers arrive. */
export function StrongestRows({
  count,
  strongest,
  children,
}: {
  count: number;
  strongest: readonly (readonly [place: number, weight: number])[];
  /** The cells of a row. */
  children(place: number, weight: number): ComponentChildren;
}) {
  return (
    <tbody>
      {Array.from({ length: count }, (_, i) => (
        <tr key={i}>{strongest[i] ? children(...strongest[i]) : <td>&nbsp;</td>}</tr>
      ))}
    </tbody>
  );
}
