import type { ComponentChildren } from "preact";

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
