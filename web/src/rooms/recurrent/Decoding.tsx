/** Compares teacher forcing with decoding from the model's own output, token by token. */
import { Lockable, Prose } from "../../shared/Panel";
import { type Mark, markOf, Token } from "./Mark";
import type { ModelName } from "./problem";
import type { DecoderRun, ModelAnswers } from "./solve";
import { type DecodingMode, lastStep, mostSteps, rowShown, visible } from "./state";
import { shownModels, stepCountOf, targetOf, titles, useRecurrentWorkspace } from "./workspace";

const modeNames: Readonly<Record<DecodingMode, string>> = {
  taught: "It gets the right answer (teacher forcing)",
  alone: "It gets its own output",
};

/** The tokens that a person can insert: digits and the hyphen. */
const tokens = [..."0123456789-"];

interface LaneToken {
  readonly token: string;
  readonly mark: Mark;
  readonly isSlip?: boolean;
}

/** The input and output tokens of a run, marked: an input has the place of the output before it. */
function laneOf({ steps, places }: DecoderRun, target: readonly string[] | null, slip = -1) {
  return {
    in: steps.map(
      ({ given: token }, i): LaneToken => ({
        token,
        mark: i === 0 ? "unknown" : markOf(token, target, places[i - 1]),
        isSlip: slip === i - 1,
      }),
    ),
    out: steps.map(({ top }, i): LaneToken => {
      const token = top[0]?.token ?? "";
      return { token, mark: markOf(token, target, places[i]) };
    }),
  };
}

function TopThree({ run, row }: { run: DecoderRun | undefined; row: number }) {
  const { solution } = useRecurrentWorkspace();
  return (
    <ol class="top-three small number" aria-label="The most likely outputs">
      {Array.from({ length: 3 }, (_, i) => {
        const said = run?.steps[row]?.top[i];
        const mark = said && markOf(said.token, solution?.target ?? null, run?.places[row]);
        return (
          <li key={i}>
            <b class={mark === "right" ? mark : undefined}>{said && visible(said.token)}</b>
            <span class="share-bar" aria-hidden="true">
              <span style={{ width: `${100 * (said?.probability ?? 0)}%` }} />
            </span>
            <span>{said?.probability.toFixed(3)}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** @param run undefined until it is computed; null without a right answer */
function Lane({ way, run }: { way: DecodingMode; run: DecoderRun | null | undefined }) {
  const workspace = useRecurrentWorkspace();
  const { state, solution } = workspace;
  // The same number of positions in all lanes.
  const count = stepCountOf(workspace);
  const shown = Math.min(state.step, count - 1);
  const chosen = Math.min(rowShown(state), shown);
  const lane = run && laneOf(run, solution?.target ?? null, state.slip?.place);
  return (
    <div class="lane" data-way={way}>
      <h4 class="faint">{modeNames[way]}</h4>
      {run === null ? (
        <p class="faint">Without a right answer there is no teacher forcing.</p>
      ) : (
        <>
          <table class="strip">
            <tbody>
              {(["in", "out"] as const).map((side) => (
                <tr key={side}>
                  <th scope="row">{side}</th>
                  {Array.from({ length: count }, (_, i) => {
                    const cell = i <= shown && lane?.[side][i];
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
              ))}
            </tbody>
          </table>
          <TopThree run={run} row={chosen} />
        </>
      )}
    </div>
  );
}

function Lanes({ name, found }: { name: ModelName; found: ModelAnswers | null }) {
  return (
    <div class="lanes column" data-model={name}>
      <h3>{titles[name]}</h3>
      <Lane way="taught" run={found ? found.taught : undefined} />
      <Lane way="alone" run={found?.alone} />
    </div>
  );
}

function SlipFields() {
  const workspace = useRecurrentWorkspace();
  const { state, set } = workspace;
  const { slip } = state;
  const right = targetOf(workspace);
  return (
    <p class="slip-fields">
      <label>
        Put in a wrong character at{" "}
        <select
          value={slip ? String(slip.place) : ""}
          onChange={({ currentTarget: { value } }) => {
            if (value === "") return set({ slip: null, step: mostSteps - 1 });
            const place = Number(value);
            const wrong = tokens.find((other) => other !== right[place]) as string;
            const token = slip && slip.token !== right[place] ? slip.token : wrong;
            set({ slip: { place, token }, step: mostSteps - 1, row: place + 1 });
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
            <option key={token}>{token}</option>
          ))}
        </select>
      </label>
    </p>
  );
}

export function Decoding() {
  const workspace = useRecurrentWorkspace();
  return (
    <section class="decoding" aria-label="Own output and teacher forcing">
      <Prose class="words">
        In training the decoder gets the right character after each step, whatever it wrote (teacher
        forcing); otherwise its own output. Put in a wrong character, and see how each continues.
        Below: the three likeliest characters of the selected step.
      </Prose>
      <Lockable>
        <SlipFields />
      </Lockable>
      {shownModels(workspace).map(([name, found]) => (
        <Lanes key={name} name={name} found={found} />
      ))}
    </section>
  );
}
