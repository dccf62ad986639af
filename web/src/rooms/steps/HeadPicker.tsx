/** Every head as a small map of its weights. Position and number identify a head. */

import { Matrix } from "../../picture/Matrix";
import { useShell } from "../../shared/shell";
import { useMatrixPicture } from "./solution";
import { sizesOf, sourceHead } from "./state";
import { useStepsWorkspace } from "./workspace";

const size = 40;

function HeadPicture({ head }: { head: number }) {
  const { attention } = useStepsWorkspace();
  const { query, key } = sizesOf(attention);
  const picture = useMatrixPicture("weights", {
    cell: { width: size / Math.max(1, key), height: size / Math.max(1, query) },
    head,
    quiet: true,
    small: true,
  });
  return <Matrix picture={picture} summary={`Weights of head ${head + 1}`} />;
}

export function HeadPicker() {
  const { attention, state, set, active } = useStepsWorkspace();
  const { restrictions } = useShell();
  /** The head whose output contains the active cell of the joined heads. */
  const source = active?.matrix === "joined" ? sourceHead(active, attention) : null;
  if (attention.heads === 1) return null;
  const keep = (head: number, isKept: boolean) =>
    set(({ ablated }) => {
      const others = [...ablated].filter((other) => other !== head);
      return { ablated: new Set(isKept ? others : [...others, head]) };
    });
  return (
    <fieldset class="heads line">
      <legend>
        <span>
          Head <span class="faint">(ticked: in use)</span>
        </span>
      </legend>
      {Array.from({ length: attention.heads }, (_, head) => (
        <span key={head} class="head">
          <label
            class={`picture-choice ${state.ablated.has(head) ? "is-ablated" : ""} ${head === source ? "is-source" : ""}`}
          >
            <input
              type="radio"
              name="head"
              checked={head === attention.head}
              onChange={() => set({ head })}
            />
            <HeadPicture head={head} />
            <span class="number">{head + 1}</span>
          </label>
          <input
            type="checkbox"
            aria-label={`Head ${head + 1} counts`}
            title="Uncheck to leave this head out"
            disabled={restrictions.lock}
            checked={!state.ablated.has(head)}
            onChange={({ currentTarget }) => keep(head, currentTarget.checked)}
          />
        </span>
      ))}
    </fieldset>
  );
}
