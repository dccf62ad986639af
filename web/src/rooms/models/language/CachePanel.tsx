/** The cache as it fills: the keys and values that each token adds in every layer, and the memory that a step reads. */

import { useRef } from "preact/hooks";
import { sweeping, viewOn } from "#parts";
import { SaveDrawing } from "../../../picture/SaveDrawing";
import { formatBytes } from "../../../shared/format";
import { headName } from "../../../shared/layerHeads";
import { Prose } from "../../../shared/Panel";
import { quoted } from "../../../shared/pieces";
import { SaveVectors } from "../../../shared/SaveVectors";
import { useWidth } from "../../../shared/useWidth";
import type { Card } from "./messages";
import { type ShownHead, useLanguageWorkspace } from "./workspace";

const float = 4;
const left = 56;
const rowHeight = 16;
const gap = 4;
const axis = 20;

/** The bytes of one token's keys and values in one layer. */
function bytesPerLayer({ attentions: [{ groups, headSize }] }: Card): number {
  return 2 * groups * headSize * float;
}

function Drawing({ width }: { width: number }) {
  const { card, answer, place } = useLanguageWorkspace();
  const count = answer.ids.length;
  const unit = (width - left) / count;
  const [{ layers }] = card.attentions;
  const height = layers * (rowHeight + gap) + axis;
  const half = rowHeight / 2;
  const bar = (x: number, y: number, wide: number, role: string) => (
    <rect class={role} x={left + x * unit} y={y} width={Math.max(1, wide * unit)} height={half} />
  );
  return (
    <svg
      class="cache-drawing"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`${layers} layers, each with keys and values of ${place + 1} of ${count} tokens`}
    >
      {Array.from({ length: layers }, (_, layer) => {
        const y = layer * (rowHeight + gap);
        return (
          <g key={layer}>
            <text x={0} y={y + half + 4}>
              layer {layer + 1}
            </text>
            <rect class="cache-room" x={left} y={y} width={count * unit} height={rowHeight} />
            <g data-plays="grow">
              {bar(0, y, place, "cache-key")}
              {bar(0, y + half, place, "cache-value")}
              {bar(place, y, 1, "cache-key new")}
              {bar(place, y + half, 1, "cache-value new")}
            </g>
          </g>
        );
      })}
      <text x={left} y={height - 4}>
        token 1
      </text>
      <text x={width} y={height - 4} text-anchor="end">
        {count}
      </text>
    </svg>
  );
}

/** Saves the cached keys and values of the selected head, up to the selected token. */
function SaveHeld({ shown, place }: { shown: ShownHead; place: number }) {
  const { attention, shares } = shown;
  // The panel may still show the head of the previous text, so the tokens come from this head.
  const tokens = attention.rows.slice(0, place + 1);
  const held = (data: Float32Array) =>
    viewOn(data, tokens.length, data.length / attention.rows.length);
  return (
    <SaveVectors
      name={headName(attention.path)}
      file={`cache-${attention.path}`}
      vectors={[
        { of: "keys", view: held(shares.keys), tokens },
        { of: "values", view: held(shares.values), tokens },
      ]}
    />
  );
}

/** Renders nothing for an encoder, which keeps nothing, and for a translation, whose decoder has two caches. */
export function CachePanel() {
  return useLanguageWorkspace().card.predicts === "causal" ? <Cache /> : null;
}

function Cache() {
  const { card, answer, place, shown } = useLanguageWorkspace();
  const part = useRef<HTMLDivElement>(null);
  const [ref, width] = useWidth<HTMLDivElement>();
  const [{ groups, headSize, layers }] = card.attentions;
  const own = bytesPerLayer(card);
  const token = quoted(answer.tokens[place]?.piece ?? "");
  return (
    <section class="cache" aria-labelledby="cache-title">
      <h2 id="cache-title">The cache</h2>
      <Prose class="prose">
        Each token leaves a <b class="role-k">key</b> and a <b class="role-v">value</b> of {groups}{" "}
        × {headSize} numbers in every layer, computed once.
      </Prose>
      <div ref={part}>
        <div ref={ref}>{width > 0 && <Drawing width={width} />}</div>
        <SaveDrawing
          part={part}
          title={`The cache after ${place + 1} tokens`}
          file="cache"
          plays={() => sweeping(place + 1)}
        />
        {shown && <SaveHeld {...{ shown, place }} />}
      </div>
      <p class="number cache-numbers">
        {token} writes <b data-written={own * layers}>{formatBytes(own * layers)}</b> (
        {formatBytes(own)} in each layer). The step reads{" "}
        {place === 0 ? "this token" : `all ${place + 1} tokens`}:{" "}
        <b data-read={own * layers * (place + 1)}>{formatBytes(own * layers * (place + 1))}</b>.
      </p>
    </section>
  );
}
