/** Every head of a language model, and the heads of known kinds. */

import { format, formatShort, patterns } from "#parts";
import { withoutWords } from "../../../shared/ablation";
import { headName, headPlaceOf } from "../../../shared/layerHeads";
import { Lockable, Prose } from "../../../shared/Panel";
import { Term } from "../../../shared/Term";
import { AllHeads, BelowWords } from "../parts/AllHeads";
import {
  bestOf,
  isFound,
  type Kinds,
  kinds as kindWords,
  type MeasureName,
  measureNames,
  repeated,
} from "./kinds";
import { useLanguageWorkspace } from "./workspace";

/** Which heads are ablated. */
function Ablated() {
  const { ablating, set } = useLanguageWorkspace();
  const { ablated } = ablating;
  if (ablated.length === 0) return null;
  return (
    <Lockable>
      <p class="ablated-heads small prose">
        Ablated: {ablated.map(headName).join("; ")}.{" "}
        <button type="button" class="link" onClick={() => set({ ablated: [] })}>
          Restore {ablated.length === 1 ? "it" : "them"}
        </button>
      </p>
    </Lockable>
  );
}

function FoundRow({ name, kinds }: { name: MeasureName; kinds: Kinds }) {
  const { head, set } = useLanguageWorkspace();
  const best = bestOf(kinds.measures, name);
  const uniform = kinds.uniform[name];
  return (
    <tr data-kind={name}>
      <th scope="row">{name === "induction" ? <Term name="induction" /> : kindWords[name]}</th>
      <td>
        <button
          type="button"
          class="link"
          aria-pressed={best.key === head}
          onClick={() => set({ head: best.key, cell: null })}
        >
          {headName(best.key)}
        </button>
      </td>
      <td class="number" data-measure={best[name]}>
        {format(best[name])}
      </td>
      <td class="faint number">
        {!isFound(best[name], uniform) && "too low to count; "}even: {format(uniform)}
      </td>
    </tr>
  );
}

/** The heads of some known kinds, found on random tokens that are repeated. */
function Found() {
  const { kinds } = useLanguageWorkspace();
  if (!kinds) return null;
  return (
    <>
      <table class="found">
        <tbody>
          {measureNames.map((name) => (
            <FoundRow key={name} {...{ name, kinds }} />
          ))}
        </tbody>
      </table>
      <Prose class="faint small prose">
        Found on {repeated} random tokens, read twice. Even: equal weights.
      </Prose>
    </>
  );
}

export function HeadsPanel() {
  const { state, set, card, answer, head, heads, ablating } = useLanguageWorkspace();
  const { measure, order } = state;
  const { ablated } = ablating;
  const without = ablated.length > 0 ? withoutWords(ablating, ablated.map(headName)[0]) : null;
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      <BelowWords {...{ order, heads }}>
        <span class="wide-only">Rows: queries; columns: keys; </span>
        below: {patterns[measure].name}
      </BelowWords>
      <Ablated />
      <AllHeads
        key={card.model}
        {...{
          heads,
          look: state,
          measures: patterns,
          format: formatShort,
          ablated,
          selected: head,
        }}
        causal={{
          size: answer.tokens.length - answer.sources,
          has: (key) => card.predicts === "causal" || headPlaceOf(key)?.name === "decoder",
        }}
        select={(head) => set({ head, cell: null })}
        saved={{
          ...{ title: card.name, text: answer.text, without, file: "all-heads" },
        }}
      />
      <Found />
    </section>
  );
}
