/** Compares teacher forcing with autoregressive decoding, token by token. */
import { Lockable } from "../../shared/Panel";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { markOf, rightAt, Token } from "./Mark";
import type { DecoderRun, DecoderStep, ModelAnswers, ModelName } from "./problem";
import { type DecodingMode, lastStep, mostSteps, rowShown, visible } from "./state";
import { shownModels, stepCountOf, titles, useRecurrentWorkspace } from "./workspace";

const modeNames: Readonly<Record<DecodingMode, string>> = {
  taught: "Taught: it gets the right characters",
  alone: "Alone: it gets its own characters",
};

/** The tokens that a person can insert: digits and the hyphen. */
const tokens = [..."0123456789-"];

/** The input tokens, or the output tokens, up to the step that is shown. */
function TokenLine({
  words,
  cells,
  count,
  shown,
  chosen,
}: {
  words: string;
  cells: readonly LaneToken[];
  /** The number of positions, the same in all lanes. */
  count: number;
  /** The last step that is shown, and the selected one. */
  shown: number;
  chosen: number;
}) {
  return (
    <tr>
      <th scope="row">{words}</th>
      {Array.from({ length: count }, (_, i) => {
        const cell = i <= shown && cells[i];
        return (
          <td key={i} class={i === chosen ? "now" : undefined}>
            {cell && (
              <span class={cell.isSlip ? "piece slip" : "piece"}>
                <Token {...cell} />
              </span>
            )}
          </td>
        );
      })}
    </tr>
  );
}

interface LaneToken {
  readonly token: string;
  readonly mark: ReturnType<typeof markOf>;
  readonly isSlip?: boolean;
}

function TopThree({ step, right }: { step: DecoderStep | undefined; right: string | undefined }) {
  return (
    <ol class="top-three number" aria-label="The most likely outputs">
      {Array.from({ length: 3 }, (_, i) => {
        const said = step?.top[i];
        const mark = said ? markOf(said.token, right) : "unknown";
        return (
          <li key={i}>
            <b class={mark === "right" ? mark : undefined}>{said && visible(said.token)}</b>
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${100 * (said?.probability ?? 0)}%` }} />
            </span>
            <span>{said?.probability.toFixed(3)}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Lane({ way, run }: { way: DecodingMode; run: DecoderRun | null | undefined }) {
  const workspace = useRecurrentWorkspace();
  const { state, solution } = workspace;
  const target = solution?.target ?? null;
  const { slip } = state;
  const steps = run?.steps ?? [];
  const count = stepCountOf(workspace);
  const shown = Math.min(state.step, count - 1);
  const chosen = Math.min(rowShown(state), shown);
  if (run === null)
    return (
      <div class="lane" data-way={way}>
        <h4>{modeNames[way]}</h4>
        <p class="faint">The right answer is not known, so there is nothing to teach.</p>
      </div>
    );
  const given = steps.map(({ given: token }, i) => ({
    token,
    mark: i === 0 ? ("unknown" as const) : markOf(token, rightAt(target, i - 1)),
    isSlip: slip?.place === i - 1,
  }));
  const said = steps.map(({ top }, i) => {
    const token = top[0]?.token ?? "";
    return { token, mark: markOf(token, rightAt(target, i)) };
  });
  return (
    <div class="lane" data-way={way}>
      <h4>{modeNames[way]}</h4>
      <table class="strip">
        <tbody>
          <TokenLine words="in" cells={given} {...{ count, shown, chosen }} />
          <TokenLine words="out" cells={said} {...{ count, shown, chosen }} />
        </tbody>
      </table>
      <TopThree step={steps[chosen]} right={rightAt(target, chosen)} />
    </div>
  );
}

function Lanes({ name, found }: { name: ModelName; found: ModelAnswers | null }) {
  return (
    <div class="lanes" data-model={name}>
      <h3>{titles[name]}</h3>
      <Lane way="taught" run={found ? found.taught : undefined} />
      <Lane way="alone" run={found?.alone} />
    </div>
  );
}

function SlipFields() {
  const { state, solution, set } = useRecurrentWorkspace();
  const { slip } = state;
  const right =
    solution?.target ??
    solution?.models
      .at(-1)
      ?.answer.steps.slice(0, lastStep)
      .map(({ top }) => top[0]?.token ?? "") ??
    [];
  return (
    <p class="slip-fields">
      <label>
        Put in a wrong character at{" "}
        <select
          value={slip ? String(slip.place) : ""}
          onChange={({ currentTarget: { value } }) => {
            if (value === "") return set({ slip: null, step: mostSteps - 1 });
            const place = Number(value);
            const token = tokens.find((other) => other !== right[place]) as string;
            const other = slip && slip.token !== right[place] ? slip.token : token;
            set({ slip: { place, token: other }, step: mostSteps - 1, row: place + 1 });
          }}
        >
          <option value="">no place</option>
          {Array.from({ length: lastStep }, (_, place) => (
            <option key={place} value={String(place)}>
              {place + 1} {right[place] && `(${right[place]})`}
            </option>
          ))}
        </select>
      </label>{" "}
      <label>
        the character{" "}
        <select
          value={slip?.token ?? ""}
          disabled={!slip}
          onChange={({ currentTarget: { value } }) =>
            slip && set({ slip: { ...slip, token: value } })
          }
        >
          {!slip && <option value="">–</option>}
          {tokens.map((token) => (
            <option key={token} value={token}>
              {token}
            </option>
          ))}
        </select>
      </label>
    </p>
  );
}

export function Decoding() {
  const workspace = useRecurrentWorkspace();
  const { restrictions } = useShell();
  return (
    <section class="decoding" aria-label="Taught and alone">
      {!hides(restrictions, "text") && (
        <p class="words">
          In training a decoder gets the right character after each step, whatever it wrote (teacher
          forcing). Alone, it gets its own. Put in a wrong character, and see how each continues.
          Below are the three most likely characters of the selected step.
        </p>
      )}
      <Lockable>
        <SlipFields />
      </Lockable>
      {shownModels(workspace).map(([name, found]) => (
        <Lanes key={name} name={name} found={found} />
      ))}
    </section>
  );
}
