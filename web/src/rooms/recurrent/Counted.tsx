/** The number of steps of each model: the length of a path, and the steps that must run in sequence. */
import { RowTable } from "../../shared/RowTable";
import { costsOf, type Journey, lengthOf } from "./paths";
import type { ModelName } from "./problem";
import { shortTitles, titles, useRecurrentWorkspace } from "./workspace";

/** The sequential steps as bars: the steps that read the date, then the steps that write the answer. */
function Waiting({
  reading,
  writing,
  most,
  width,
}: {
  reading: number;
  writing: number;
  /** The maximum over all models, so that they can be compared. */
  most: number;
  width: number;
}) {
  const unit = Math.min(14, width / most);
  return (
    <svg class="waiting" width={width} height={12} aria-hidden="true">
      {Array.from({ length: reading + writing }, (_, i) => (
        <rect
          key={i}
          class={i < reading ? "waiting-read" : "waiting-write"}
          x={i * unit}
          width={Math.max(1, unit - 2)}
          height={12}
        />
      ))}
    </svg>
  );
}

export function Counted({
  models,
  journey,
  tokens: [source, written],
  width,
}: {
  models: readonly { readonly name: ModelName; readonly layers: number }[];
  journey: Journey;
  /** The characters of the date, and of the answer. */
  tokens: readonly [readonly string[], readonly string[]];
  width: number;
}) {
  const { state } = useRecurrentWorkspace();
  const isTaught = state.way === "taught";
  const costs = models.map(({ name, layers }) => costsOf(name, layers, journey));
  const waits = costs.map(({ reading, taught, alone }) => ({
    reading,
    writing: isTaught ? taught : alone,
  }));
  const most = Math.max(...waits.map(({ reading, writing }) => reading + writing));
  const rows = [
    [
      `Path from “${source[journey.from] ?? ""}” to “${written[journey.to]}”`,
      models.map(({ name }) => lengthOf(name, journey)),
    ],
    ["Path from the first to the last character of the date", costs.map(({ across }) => across)],
    ["Sequential steps to read the date", costs.map(({ reading }) => reading)],
    ["Sequential steps to write, taught", costs.map(({ taught }) => taught)],
    ["Sequential steps to write alone", costs.map(({ alone }) => alone)],
  ] as const;
  return (
    <>
      {models.map(({ name }, i) => (
        <div key={name} class="path">
          <h3>{titles[name]}</h3>
          <p class="faint">
            One after another: <span class="waiting-key">{waits[i]?.reading} to read the date</span>{" "}
            and{" "}
            <span class="waiting-key write">
              {waits[i]?.writing} to write {isTaught ? "while taught" : "alone"}
            </span>
          </p>
          {width > 0 && waits[i] && <Waiting {...waits[i]} {...{ most, width }} />}
        </div>
      ))}
      <RowTable
        title="Counted in steps"
        columns={[
          { id: "what", head: "What is counted" },
          ...models.map(({ name }) => ({ id: name, head: shortTitles[name] })),
        ]}
      >
        <tbody>
          {rows.map(([what, counts]) => (
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
        Bahdanau et al. (2015) let the decoder attend to the input, and Vaswani et al. (2017) the
        encoder, too: for n characters a recurrent layer takes n steps, self-attention 1 (their
        table 1). Alone, every model writes one character at a time, each through all layers.
      </p>
    </>
  );
}
