/** The heads of some known kinds, found on random tokens that are repeated. */
import { format } from "#parts";
import { headName } from "../../../shared/layerHeads";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
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

function Row({ name, kinds }: { name: MeasureName; kinds: Kinds }) {
  const { head, set } = useLanguageWorkspace();
  const best = bestOf(kinds.measures, name);
  const uniform = kinds.uniform[name];
  return (
    <tr data-kind={name}>
      <th scope="row">{name === "induction" ? <Term name="induction" /> : kindWords[name].name}</th>
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

export function Found() {
  const { kinds } = useLanguageWorkspace();
  const { restrictions } = useShell();
  if (!kinds) return null;
  return (
    <>
      <table class="found">
        <tbody>
          {measureNames.map((name) => (
            <Row key={name} {...{ name, kinds }} />
          ))}
        </tbody>
      </table>
      {!hides(restrictions, "text") && (
        <p class="faint">Found on {repeated} random tokens, read twice. Even: equal weights.</p>
      )}
    </>
  );
}
