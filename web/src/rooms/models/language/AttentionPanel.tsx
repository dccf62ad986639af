/** Attention weights from a file: every head of every layer, and one of them in detail. */
import { type Attention, heads } from "heed/view";
import { useState } from "preact/hooks";
import { attentionSizes, attentionTitles } from "#parts";
import type {} from "../../../picture/elements";
import { Switch } from "../../../shared/Fields";
import { Lockable } from "../../../shared/Panel";
import { useShell } from "../../../shared/shell";
import type { OpenAttention } from "./useAttention";

// Its first element registers the class.
heads();

function Heads({ attention, label }: { attention: Attention; label: string }) {
  const { data, shape, queries, keys } = attention;
  const isSquare = shape[2] === shape[3];
  const [isCausal, setCausal] = useState(false);
  const { theme } = useShell();
  return (
    <>
      {isSquare && (
        <Switch label="A query sees no later key" checked={isCausal} onChange={setCausal} />
      )}
      <heed-heads
        {...{ data, shape, queries, keys, label, theme, mask: isCausal ? "causal" : null }}
      />
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
