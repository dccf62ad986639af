/** The room "Models": the choice of a model above its view. Files that are dropped anywhere open as the person's. */
import { useRef, useState } from "preact/hooks";
import { Choice } from "../../shared/Fields";
import { Lockable, Panel } from "../../shared/Panel";
import type { RoomProps, Setter } from "../../shared/room";
import { useShell } from "../../shared/shell";
import type { FoundFile } from "./language/source";
import { yourModel } from "./language/state";
import { View as LanguageView } from "./language/View";
import { useDrop } from "./parts/useDrop";
import {
  choiceNames,
  chosenIn,
  firstStateOf,
  type Choice as ModelChoice,
  type State,
} from "./state";
import { View as TasksView } from "./tasks/View";

export function View({ state, set, notices }: RoomProps<State>) {
  const { restrictions } = useShell();
  const left = useRef(new Map<ModelChoice, State>());
  const [found, setFound] = useState<readonly FoundFile[] | null>(null);
  const chosen = chosenIn(state);
  /** A model that is chosen again opens in the state in which it was left. */
  const choose = (choice: ModelChoice) => {
    left.current.set(chosen, state);
    set(left.current.get(choice) ?? firstStateOf(choice));
  };
  const isOver = useDrop((files) => {
    if (restrictions.lock || files.length === 0) return;
    if (chosen !== yourModel) choose(yourModel);
    setFound(files);
  });
  return (
    <>
      <Panel name="model">
        <section class="chooser" aria-label="The choice of a model">
          <Lockable>
            <Choice<ModelChoice>
              label="Model"
              value={chosen}
              choices={choiceNames}
              onChange={choose}
            />
          </Lockable>
        </section>
      </Panel>
      {state.kind === "tasks" ? (
        <TasksView {...{ state, notices }} set={set as Setter<object>} />
      ) : (
        <LanguageView
          key={chosen}
          {...{ state, notices, isOver }}
          found={chosen === yourModel ? found : null}
          onTaken={() => setFound(null)}
          set={set as Setter<object>}
        />
      )}
    </>
  );
}
