/** The stages after attention for one token, drawn as in the picture of the whole network. */
import { useCallback, useMemo } from "preact/hooks";
import { explanationText, px } from "#parts";
import { explainBlock } from "../../network/explain";
import { AddOfHeads, AddOfUnits, Norm, Part, Units } from "../../network/LayerParts";
import type { PartName, Spot } from "../../network/messages";
import "../../network/network.css";
import { PointingContext, usePointing } from "../../network/pointing";
import { railWidth } from "../../network/Rail";
import { Strips, strip } from "../../network/Strips";
import { Announced } from "../../shared/Announced";
import { headKey } from "../../shared/layerHeads";
import { Readout } from "../../shared/Readout";
import { TokenSelect } from "../../shared/RowTable";
import { Steady } from "../../shared/Steady";
import { useWidth } from "../../shared/useWidth";
import type { Block, Solution } from "./problem";
import type { BlockStage as StageName } from "./stageNames";
import type { StepsWorkspace } from "./workspace";
import "./block.css";

/** The parts of the layer that a stage draws. */
const partsIn: Readonly<Record<StageName, readonly PartName[]>> = {
  addnorm: ["attention", "feed-forward"],
  feedforward: ["feed-forward"],
  addnorm2: ["feed-forward", "next", "end"],
};

interface PictureProps {
  readonly block: Block;
  readonly head: number;
  /** Counted from 0. */
  readonly layer: number;
  /** In pixels. */
  readonly width: number;
}

function AddNorm({ block: { attention, feedForward }, head, width }: PictureProps) {
  return (
    <>
      <AddOfHeads part={attention} {...{ head, width }} />
      <Norm
        part="feed-forward"
        norm={feedForward.norm}
        title="Norm before the feed-forward network"
        width={width}
      />
    </>
  );
}

function FeedForward({ block: { feedForward }, width }: PictureProps) {
  const { norm, added } = feedForward;
  const part = "feed-forward";
  const name = norm.isPost ? "stream" : "normed";
  const read = useMemo(() => [strip(part, name, "norm", norm.result)], [feedForward]);
  const result = useMemo(() => [strip(part, "added", "added", added)], [feedForward]);
  return (
    <>
      <Part kind="reads" title="What it reads">
        <Strips
          {...{ part, width, picture: "norm", strips: read }}
          title={`The ${norm.isPost ? "" : "normed "}stream`}
        />
      </Part>
      <Units part={feedForward} width={width} />
      <Part kind="part" title="What it adds">
        <Strips {...{ part, width, picture: "add", strips: result }} title="The vector F" />
      </Part>
    </>
  );
}

function AddNorm2({ block: { feedForward, next, isLast }, layer, width }: PictureProps) {
  return (
    <>
      <AddOfUnits part={feedForward} width={width} />
      <Norm
        part={isLast && !next.isPost ? "end" : "next"}
        norm={next}
        title={isLast ? "Final norm" : `Norm of layer ${layer + 2}`}
        width={width}
      />
    </>
  );
}

const pictures = { addnorm: AddNorm, feedforward: FeedForward, addnorm2: AddNorm2 } as const;

/** The explanation of the active number, if it is one of this stage. */
function useExplanation(stage: StageName, spot: Spot | null, solution: Solution | null) {
  return useMemo(() => {
    if (!solution?.block || !spot || !partsIn[stage].includes(spot.part)) return null;
    const { block, problem } = solution;
    const layer = problem.source.kind === "learned" ? problem.source.layer : 0;
    const ablated = problem.ablated.map((head) => headKey({ layer, head }));
    const numbers = { open: { layer }, ablated };
    return explainBlock(spot, block, { numbers, matrices: block.matrices });
  }, [stage, spot, solution]);
}

/** The values of the room are parameters, so that this file shares no code with it. */
export function BlockStage({
  state,
  attention,
  set,
  solution,
}: Pick<StepsWorkspace, "state" | "attention" | "set" | "solution">) {
  const [ref, whole] = useWidth<HTMLDivElement>();
  const keep = useCallback((number: Spot | null) => set({ number }), [set]);
  const pointing = usePointing(state.number, keep);
  const { active, isLocked, byKeyboard } = pointing;
  const stage = state.stage as StageName;
  const explanation = useExplanation(stage, active, solution);
  const block = solution?.block;
  const { layer } = state;
  const { head } = attention;
  const rail = railWidth(whole);
  const Picture = pictures[stage];
  const draw = () =>
    block && whole > 0 && <Picture {...{ block, head, layer, width: whole - rail }} />;
  return (
    <PointingContext.Provider value={pointing}>
      <div class="stage-figure network">
        <div class="token-choice">
          <TokenSelect
            label="Token"
            tokens={attention.queries.tokens}
            index={attention.row}
            onSelect={(row) => set({ row })}
          />
        </div>
        <div ref={ref} class="inside" style={{ "--rail": px(rail) }}>
          <Steady by={[stage, block, head, layer, whole]}>{draw}</Steady>
        </div>
      </div>
      <div class="stage-cell">
        <Readout explanation={explanation} locked={isLocked && explanation !== null} />
      </div>
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </PointingContext.Provider>
  );
}
