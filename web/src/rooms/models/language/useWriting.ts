/** The page's side of the model: loads it, has it continue the text, and asks for the selected head. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { attentionOf, type HeadKey } from "../../../shared/layerHeads";
import { useAnswer, useEngine } from "../../../worker/engineClient";
import { bestOf } from "./measures";
import type {
  HeadRequest,
  LoadingNews,
  OpenAnswer,
  OpenRequest,
  WriteAnswer,
  WriteRequest,
} from "./messages";
import type { State } from "./state";
import type { ShownHead } from "./workspace";

/** The time after which a running request is cancelled for a newer one, in milliseconds. */
const patience = 600;

/** Absolute, because the worker's base address differs from the page's. */
export const baseOf = () => new URL("./", document.baseURI).href;

function useModel() {
  const engine = useEngine();
  const [opened, setOpened] = useState<OpenAnswer | null>(null);
  const [loading, setLoading] = useState<LoadingNews | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [attempts, setAttempts] = useState(0);
  const retry = useCallback(() => setAttempts((count) => count + 1), []);
  useEffect(() => {
    setFailure(null);
    setLoading(null);
    const controller = new AbortController();
    const { signal } = controller;
    const request: OpenRequest = { kind: "open", base: baseOf() };
    engine.ask("write", request, { signal, progress: setLoading }).then(
      (answer) => setOpened(answer as OpenAnswer),
      (error: Error) => {
        if (!signal.aborted) setFailure(error.message);
      },
    );
    return () => {
      controller.abort();
      void engine.ask("write", { kind: "leave" }).catch(() => {});
    };
  }, [engine, attempts]);
  return { opened, loading, failure, retry };
}

/** The selected head; a link may name one that the model does not have. */
function headOf({ measures }: OpenAnswer, wanted: HeadKey | null): HeadKey {
  const found = measures.find(({ key }) => key === wanted);
  return (found ?? bestOf(measures, "previous")).key;
}

export function useWriting(state: State) {
  const { opened, loading, failure, retry } = useModel();
  const { text, temperature, topK, topP, seed, length, kept } = state;
  const dropped = useMemo(() => {
    const isThere = (wanted: HeadKey) => opened?.measures.some(({ key }) => key === wanted);
    return state.dropped.filter(isThere);
  }, [opened, state.dropped]);
  const request = useMemo<WriteRequest | null>(
    () =>
      opened && {
        ...{ kind: "write", base: baseOf() },
        ...{ text, temperature, topK, topP, seed, length, kept, dropped },
      },
    [opened, text, temperature, topK, topP, seed, length, kept.join(), dropped],
  );
  const writing = useAnswer("write", request, patience);
  // The last text stays in view while the next one is written.
  const last = useRef<WriteAnswer | null>(null);
  if (writing.answer?.kind === "written") last.current = writing.answer;
  const answer = last.current;

  const head = opened && headOf(opened, state.head);
  const headRequest = useMemo<HeadRequest | null>(
    () =>
      answer && head !== null
        ? { kind: "head", base: baseOf(), ids: answer.ids, head, dropped }
        : null,
    [answer, head],
  );
  const found = useAnswer("write", headRequest);
  const shown = useMemo<ShownHead | null>(() => {
    const { answer: shares, request: asked } = found;
    const isOfText = asked?.kind === "head" && asked.ids === answer?.ids && asked.head === head;
    if (!isOfText || shares?.kind !== "head") return null;
    return { attention: attentionOf(answer.pieces, asked.head), shares: shares.shares };
  }, [found.answer, found.request, answer, head]);
  const why = failure ?? writing.failure ?? found.failure;
  const { request: asked } = writing;
  /** Whether the answer continues another text than the present one. */
  const isStale = asked?.kind === "write" && asked.text !== text;
  return { opened, loading, retry, answer, head, shown, dropped, isStale, failure: why };
}
