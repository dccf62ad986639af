/** The room "Models": the choice of a model above its view. */
import { useRef } from "preact/hooks";
import { Choice } from "../../shared/Fields";
import { Lockable, Panel } from "../../shared/Panel";
import type { RoomProps, Setter } from "../../shared/room";
import { useShell } from "../../shared/shell";
import { choiceNames, type Choice as ModelChoice } from "./choices";
import { View as LanguageView } from "./language/View";
import { chosenIn, firstStateOf, type State } from "./state";
import { View as TasksView } from "./tasks/View";
import { View as YoursView } from "./yours/View";

/** The choice of a model. A model that is chosen again opens in the state in which it was left. */
function Chooser({ state, set }: { state: State; set: Setter<State> }) {
  const { setTried } = useShell();
  const left = useRef(new Map<ModelChoice, State>());
  const choose = (choice: ModelChoice) => {
    left.current.set(chosenIn(state), state);
    setTried(null);
    set(left.current.get(choice) ?? firstStateOf(choice));
  };
  return (
    <section class="chooser" aria-label="The choice of a model">
      <Lockable>
        <Choice<ModelChoice>
          label="Model"
          value={chosenIn(state)}
          choices={choiceNames}
          onChange={choose}
        />
      </Lockable>
    </section>
  );
}

/** The view of the chosen model. Its setter changes its own part of the state. */
function Chosen({ state, set, notices }: RoomProps<State>) {
  if (state.kind === "language")
    return <LanguageView {...{ state, notices }} set={set as Setter<object>} />;
  if (state.kind === "yours")
    return <YoursView {...{ state, notices }} set={set as Setter<object>} />;
  return <TasksView {...{ state, notices }} set={set as Setter<object>} />;
}

export function View(props: RoomProps<State>) {
  return (
    <>
      <Panel name="model">
        <Chooser {...props} />
      </Panel>
      <Chosen {...props} />
    </>
  );
}
