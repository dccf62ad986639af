/** A few named numbers in a row. */
import type { ComponentChildren } from "preact";

export function NamedNumbers({
  figures,
}: {
  figures: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="figures number">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
