/** Sets the locked entry of Q or K to another number. Everything that depends on it is recomputed. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { at } from "#parts";
import { NumberField } from "../../shared/Fields";
import { Lockable } from "../../shared/Panel";
import { useShell } from "../../shared/shell";
import { kindOf } from "./matrices";
import type { Edit } from "./problem";
import { editKey, editLimit } from "./settings";
import type { StageName } from "./stageNames";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** Stages that show Q and K. */
const takesEdits: readonly StageName[] = ["qkv", "scores"];

const limits = { min: -editLimit, max: editLimit };

/** The field with the number of a locked entry. After Enter, the cursor is on the entry again. */
function EntryField({ place, shown }: { place: Omit<Edit, "value">; shown: number }) {
  const { set, justLocked } = useStepsWorkspace();
  const field = useRef<HTMLDivElement>(null);
  const { matrix, row, col } = place;
  // After a click on a cell, or Enter, the person can type immediately.
  useLayoutEffect(() => {
    if (justLocked.current) field.current?.querySelector("input")?.select();
    justLocked.current = false;
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles Enter in its field
    <div
      ref={field}
      onKeyDown={(event) => {
        if (event.key === "Enter")
          document.querySelector<HTMLElement>(`[data-matrix=${matrix}] canvas`)?.focus();
      }}
    >
      <NumberField
        label={`Set ${kindOf(matrix).symbol}[${row + 1}, ${col + 1}] to`}
        value={shown}
        limits={limits}
        step={0.1}
        onChange={(value) =>
          set(({ edits }) => ({ edits: new Map(edits).set(editKey(place), { ...place, value }) }))
        }
      />
    </div>
  );
}

export function EditCell() {
  const { state, attention, set, solution } = useStepsWorkspace();
  const { restrictions } = useShell();
  const { cell, edits } = state;
  const matrix = cell?.matrix === "q" || cell?.matrix === "k" ? cell.matrix : null;
  const place = cell && matrix && { matrix, head: attention.head, row: cell.row, col: cell.col };
  const view = solution && matrix && viewOf(solution, matrix, attention.head);
  const isThere = view && cell && cell.row < view.rows && cell.col < view.cols;
  return (
    <div class="edit-cell">
      <Lockable>
        {place && isThere && (
          <EntryField
            key={editKey(place)}
            place={place}
            shown={
              edits.get(editKey(place))?.value ?? Number(at(view, place.row, place.col).toFixed(3))
            }
          />
        )}
        {!place && edits.size === 0 && takesEdits.includes(state.stage) && !restrictions.lock && (
          <p class="faint">
            A kept entry of <span class="role-q">Q</span> or <span class="role-k">K</span> can be
            set to another number.
          </p>
        )}
        {edits.size > 0 && (
          <button type="button" onClick={() => set({ edits: new Map() })}>
            Undo {edits.size === 1 ? "the edit" : `${edits.size} edits`}
          </button>
        )}
      </Lockable>
    </div>
  );
}
