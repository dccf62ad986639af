/** The whole Transformer of dates: a character of the date in the encoder, and one of the answer in the decoder. */
import { useEffect, useMemo } from "preact/hooks";
import { px } from "#parts";
import { type NetworkHost, NetworkHostContext } from "../../../network/host";
import { Inside, layerOfRow } from "../../../network/Inside";
import { railWidth } from "../../../network/Rail";
import { SaveRows, Winner } from "../../../network/StackSummary";
import { StackTable } from "../../../network/StackTable";
import type { TransformerNumbers } from "../../../network/transformer";
import { Notices } from "../../../shared/Notices";
import { Prose } from "../../../shared/Panel";
import { TokenSelect } from "../../../shared/RowTable";
import { useWidth } from "../../../shared/useWidth";
import { useAnswer } from "../../../worker/engineClient";
import type { DecoderRun } from "../solve";
import { choosing, type OpenRow, questionOf, rowShown, runShown, visible } from "../state";
import { useRecurrentWorkspace } from "../workspace";
import type { NetworkQuestion } from "./solve";

/** From this width on, in pixels, the two stacks are side by side, and the contents of the open row are below both. */
const wide = 960;

const titles = { encoder: "Encoder", decoder: "Decoder" } as const;

function useNetwork(run: DecoderRun, opened: OpenRow | null) {
  const { state, source } = useRecurrentWorkspace();
  const { base } = questionOf(state);
  const step = Math.min(rowShown(state), run.steps.length - 1);
  const place = Math.min(state.col, source.length - 1);
  const head = Math.max(0, state.head - 1);
  const question = useMemo<NetworkQuestion>(() => {
    const layer = layerOfRow(opened?.row ?? null, 2);
    return {
      ...{ base, source, place, head },
      written: run.steps.slice(1, step + 1).map(({ given }) => given),
      open: opened && layer !== null ? { stack: opened.stack, layer } : null,
    };
  }, [base, source, place, head, run, step, opened?.stack, opened?.row]);
  return { ...useAnswer("datesNetwork", question), step, place };
}

function factsOf({ encoder, decoder, matrices }: TransformerNumbers, question: NetworkQuestion) {
  const sources = question.source.map(visible);
  const given = ["start", ...question.written.map(visible)];
  return {
    encoder: {
      ...{ numbers: encoder, matrices, tokens: sources, sources: [] },
      place: question.place,
    },
    decoder: { ...{ numbers: decoder, matrices, tokens: given, sources }, place: given.length - 1 },
  };
}

function rowName(answer: TransformerNumbers, { stack, row }: OpenRow): string {
  if (row === 0) return "start";
  return row > answer[stack].lengths.length ? "end" : `layer ${row}`;
}

interface StacksProps {
  answer: TransformerNumbers;
  /** The request that `answer` belongs to. */
  question: NetworkQuestion;
  opened: OpenRow | null;
}

function Stacks({ answer, question, opened }: StacksProps) {
  const { set } = useRecurrentWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const facts = useMemo(() => factsOf(answer, question), [answer]);
  const isWide = width >= wide;
  const inside = opened && width > 0 && (
    <Inside row={opened.row} facts={facts[opened.stack]} width={width} />
  );
  const insideName = opened ? `${titles[opened.stack]}, ${rowName(answer, opened)}` : "";
  return (
    <div ref={ref} style={{ "--rail": px(railWidth(width)) }}>
      <div class="stacks column">
        {(["encoder", "decoder"] as const).map((stack) => {
          const { tokens, place, numbers } = facts[stack];
          const token = tokens[place] as string;
          const own = `“${token}”`;
          const names = [own, stack === "encoder" ? "To the decoder" : "Next character"] as const;
          const row = opened?.stack === stack ? opened.row : null;
          return (
            <div key={stack} data-stack={stack}>
              <div class="way-choice line small">
                <h3>
                  {titles[stack]}
                  {stack === "decoder" && `, step ${place + 1}`}: the way of <bdi>{own}</bdi>
                </h3>
                <SaveRows {...{ numbers, token }} file={stack} />
              </div>
              <StackTable
                {...{ numbers, names, row, width: isWide ? 480 : width }}
                open={(row) =>
                  set({ network: row === null ? "open" : { stack, row }, number: null })
                }
                caption={`The layers of the ${stack}`}
                words={1}
              >
                {!isWide && row !== null && inside}
              </StackTable>
            </div>
          );
        })}
      </div>
      {isWide && inside && (
        <section class="whole-inside" aria-label={insideName}>
          <h3>{insideName}</h3>
          {inside}
        </section>
      )}
    </div>
  );
}

function Network({ run }: { run: DecoderRun }) {
  const { state, source, set } = useRecurrentWorkspace();
  const { number: kept } = state;
  const opened = state.network === "open" ? null : state.network;
  const { answer, request, step, place, failure } = useNetwork(run, opened);
  const characters = useMemo(() => source.map(visible), [source]);
  const said = useMemo(() => run.steps.map(({ top }) => visible(top[0]?.token ?? "")), [run]);
  const host = useMemo<NetworkHost>(
    () => ({
      kept,
      keep: (number) => set({ number }),
      choose: (head) => set({ head: head + 1 }),
    }),
    [kept, set],
  );
  return (
    <NetworkHostContext.Provider value={host}>
      <Notices notices={failure ? [failure] : []} />
      <div class="network-head column">
        <Prose class="words">
          The encoder reads the whole date at once; <b>cross-attention</b> in each layer of the
          decoder looks at its end, one vector for each character. The decoder reads what is written
          so far and says the next character. “It would say” reads the stream out as if the decoder
          ended there. Open a row to see inside.
        </Prose>
        {answer && (
          <Winner numbers={answer.decoder} row={opened?.stack === "decoder" ? opened.row : null} />
        )}
      </div>
      <div class="way-choice line small">
        {(
          [
            ["Character of the date", characters, place, (col: number) => set({ col })],
            ["Step of the answer", said, step, (row: number) => set(choosing(row))],
          ] as const
        ).map(([label, tokens, index, onSelect]) => (
          <span key={label}>
            {label} <TokenSelect {...{ label, tokens, index, onSelect }} />
          </span>
        ))}
      </div>
      {answer && request && <Stacks {...{ answer, question: request, opened }} />}
    </NetworkHostContext.Provider>
  );
}

/** Folded until a person opens it or it is shown alone. It computes nothing before. */
export function NetworkPanel({ isAlone }: { isAlone: boolean }) {
  const { state, solution, set } = useRecurrentWorkspace();
  const isOpen = state.network !== null;
  useEffect(() => {
    if (isAlone && !isOpen) set({ network: "open" });
  }, [isAlone]);
  const model = solution?.models.find(({ name }) => name === "transformer");
  return (
    <details
      class="network whole fold"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        if (open !== isOpen) set({ network: open ? "open" : null, number: null });
      }}
    >
      <summary>
        <h2>The whole Transformer</h2>
      </summary>
      {isOpen && model && <Network run={runShown(model, state.way)} />}
    </details>
  );
}
