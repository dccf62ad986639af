/** The path length of information in each model, drawn and counted for the two selected characters. */
import { Fold } from "../../shared/Fold";
import { TokenSelect } from "../../shared/RowTable";
import { useWidth } from "../../shared/useWidth";
import { Counted } from "./Counted";
import { Gradients } from "./Gradients";
import type { Journey } from "./journey";
import { Path } from "./PathPicture";
import { choosing, lastStep, rowShown, visible } from "./state";
import { shownModels, targetOf, usePointing, useRecurrentWorkspace } from "./workspace";

export function Paths() {
  const workspace = useRecurrentWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { source, state, set } = workspace;
  const { cell: pointed } = usePointing();
  const target = targetOf(workspace);
  const written = [...Array.from({ length: lastStep }, (_, i) => target[i] ?? ""), "end"];
  const journey: Journey = {
    source: source.length,
    target: written.length,
    from: Math.min(pointed?.col ?? state.col, source.length - 1),
    to: Math.min(pointed?.row ?? rowShown(state), written.length - 1),
  };
  const tokens = [source.map(visible), written] as const;
  const models = shownModels(workspace).map(([name, found]) => ({
    name,
    layers: found?.layers ?? (name === "transformer" ? 2 : 1),
  }));
  return (
    <section class="paths" aria-labelledby="paths-title">
      <h2 id="paths-title">Path length</h2>
      <p class="path-choice">
        Date{" "}
        <TokenSelect
          label="Character of the date"
          tokens={tokens[0]}
          index={journey.from}
          onSelect={(col) => set({ col })}
        />{" "}
        to answer{" "}
        <TokenSelect
          label="Character of the answer"
          tokens={written}
          index={journey.to}
          onSelect={(row) => set(choosing(row))}
        />
      </p>
      <div ref={ref}>
        {models.map((model) => (
          <Path key={model.name} {...{ ...model, journey, tokens, width }} />
        ))}
      </div>
      <Gradients />
      <Fold title="Sequential steps">
        <Counted {...{ models, journey, tokens, width }} />
      </Fold>
    </section>
  );
}
