/** A sentence about the rest of a trained layer, shown for vectors that have no model. */
import { isFree } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { write } from "./link";
import type { State } from "./settings";
import { toStage, withLearned } from "./state";

export function AfterAttention({ state }: { state: State }) {
  const { restrictions } = useShell();
  if (state.stage !== "joined" || state.vectors === "learned") return null;
  const words = "Add & Norm and a feed-forward network";
  const learned = { ...state, ...withLearned(), ...toStage("addnorm") };
  return (
    <>
      In a trained model,{" "}
      {isFree(restrictions) ? <a href={`#${write(learned)}`}>{words}</a> : words} follow.
    </>
  );
}
