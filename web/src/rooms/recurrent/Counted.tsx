/** The number of steps of each model: the length of a path, and the steps that must run in sequence. */
import { RowTable } from "../../shared/RowTable";
import { type Costs, costsOf, lengthOf } from "./journey";
import type { PathProps } from "./PathPicture";
import type { ModelName } from "./problem";
import { shortTitles, titles, useRecurrentWorkspace } from "./workspace";

/** The height of the bars, and the greatest width of a step with the space after it, in pixels. */
const bar = { height: 12, step: 14, space: 2 };

const rows: readonly (readonly [string, keyof Costs])[] = [
  ["Path from the first to the last character", "across"],
  ["Steps to read the date", "reading"],
  ["Steps to write with teacher forcing", "taught"],
  ["Steps to write from its own output", "alone"],
];

type ModelCosts = Costs & { readonly name: ModelName };

/** The sequential steps as bars: the steps that read the date, then the steps that write the answer. */
function Waiting({ costs, unit }: { costs: ModelCosts; unit: number }) {
  const { way } = useRecurrentWorkspace().state;
  const { name, reading, [way]: writing } = costs;
  return (
    <div class="path">
      <h3>{titles[name]}</h3>
      <p class="faint">
        One after another: <span class="waiting-key">{reading} to read the date</span> and{" "}
        <span class="waiting-key write">
          {writing} to write {way === "taught" ? "with teacher forcing" : "from its own output"}
        </span>
      </p>
      <svg
        class="waiting"
        width={(reading + writing) * unit}
        height={bar.height}
        aria-hidden="true"
      >
        {Array.from({ length: reading + writing }, (_, i) => (
          <rect
            key={i}
            class={i < reading ? "waiting-read" : "waiting-write"}
            x={i * unit}
            width={Math.max(1, unit - bar.space)}
            height={bar.height}
          />
        ))}
      </svg>
    </div>
  );
}

interface CountedProps extends Omit<PathProps, "name" | "layers"> {
  models: readonly Pick<PathProps, "name" | "layers">[];
}

export function Counted({ models, journey, tokens: [source, written], width }: CountedProps) {
  const { way } = useRecurrentWorkspace().state;
  const costs = models.map(
    ({ name, layers }): ModelCosts => ({ name, ...costsOf(name, layers, journey) }),
  );
  // The same for all models, so that they can be compared.
  const most = Math.max(...costs.map(({ reading, [way]: writing }) => reading + writing));
  const lines = [
    [
      `Path from “${source[journey.from] ?? ""}” to “${written[journey.to]}”`,
      models.map(({ name }) => lengthOf(name, journey)),
    ] as const,
    ...rows.map(([what, key]) => [what, costs.map((each) => each[key])] as const),
  ];
  return (
    <>
      {costs.map((each) => (
        <Waiting key={each.name} costs={each} unit={Math.min(bar.step, width / most)} />
      ))}
      <RowTable
        title="Counted in steps"
        columns={["What is counted", ...models.map(({ name }) => shortTitles[name])]}
      >
        <tbody>
          {lines.map(([what, counts]) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              {counts.map((count, i) => (
                <td key={models[i]?.name} data-column={models[i]?.name}>
                  {count}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </RowTable>
      <p class="words paths-words">
        Bahdanau et al. (2015) let the decoder attend to the input, Vaswani et al. (2017) the
        encoder, too: for n characters a recurrent layer takes n steps, self-attention 1 (their
        table 1). From its own output, every model writes one character at a time, through all
        layers.
      </p>
    </>
  );
}
