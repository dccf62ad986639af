/** Attention weights from a file: every head of every layer, and one of them in detail. */
import { type Attention, heads } from "heed/view";
import { useEffect, useRef, useState } from "preact/hooks";
import { attentionSizes, attentionTitles } from "#parts";
import { Switch } from "../../../shared/Fields";
import { Lockable } from "../../../shared/Panel";
import { useShell } from "../../../shared/shell";
import type { OpenAttention } from "./useAttention";

function Heads({ attention, label }: { attention: Attention; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  const { data, shape, queries, keys } = attention;
  const isSquare = shape[2] === shape[3];
  const [isCausal, setCausal] = useState(false);
  const { theme } = useShell();
  const element = useRef<ReturnType<typeof heads> | null>(null);
  useEffect(() => {
    const made = heads({ data, shape, queries, keys, label });
    element.current = made;
    place.current?.append(made);
    return () => made.remove();
  }, [data, shape, queries, keys, label]);
  useEffect(() => {
    if (element.current)
      Object.assign(element.current, { theme, mask: isCausal ? "causal" : null });
  }, [theme, isCausal, data, shape, queries, keys, label]);
  return (
    <>
      {isSquare && (
        <Switch label="A query sees no later key" checked={isCausal} onChange={setCausal} />
      )}
      <div ref={place} />
    </>
  );
}

export function AttentionPanel({ open, close }: { open: OpenAttention; close(): void }) {
  const { weights, attentions, ignored } = open;
  return (
    <section class="attention-file" aria-labelledby="attention-file-title">
      <h2 id="attention-file-title">{weights.name}</h2>
      {attentions.map((attention) => (
        <section key={attention.name} aria-label={attentionTitles[attention.name]}>
          {attentions.length > 1 && <h3>{attentionTitles[attention.name]}</h3>}
          <p class="faint">
            {attentionSizes(attention)}
            {attention.queries === null && "; no tokens yet: drop their list as .json"}
          </p>
          <Heads
            attention={attention}
            label={`${weights.name}, ${attentionTitles[attention.name]}`}
          />
        </section>
      ))}
      {ignored.length > 0 && <p class="faint">Left out: {ignored.join(", ")}.</p>}
      <Lockable>
        <button type="button" class="link" onClick={close}>
          Close this file
        </button>
      </Lockable>
    </section>
  );
}
