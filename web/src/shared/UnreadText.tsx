/** A typed text that the model cannot read. Marks its unknown words, and offers a text that can be read. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { shorten } from "#parts";
import { Lockable } from "./Panel";
import type { UnreadableText } from "./typed";

/** The maximum length, in characters, of the offered text on its button. */
const longestOffer = 44;

interface UnreadTextProps {
  unread: UnreadableText;
  /** The text to offer if no similar text can be read. */
  instead: string | null;
  onUse(text: string): void;
}

export function UnreadText({ unread: { why, pieces, nearest }, instead, onUse }: UnreadTextProps) {
  const offered = nearest ?? instead;
  const line = useRef<HTMLParagraphElement>(null);
  // Scrolls the first unknown word into view.
  useLayoutEffect(() => {
    const mark = line.current?.querySelector("mark");
    if (!line.current || !mark) return;
    const { left, right } = line.current.getBoundingClientRect();
    const word = mark.getBoundingClientRect();
    if (word.right > right) line.current.scrollLeft += word.right - right;
    else if (word.left < left) line.current.scrollLeft -= left - word.left;
  }, [pieces]);
  return (
    <div class="unread" role="status">
      <p ref={line} class="unread-text">
        <bdi>
          {pieces.map(({ text, isKnown }, i) =>
            isKnown ? <span key={i}>{text}</span> : <mark key={i}>{text}</mark>,
          )}
        </bdi>
      </p>
      <div class="unread-why line">
        {offered !== null && (
          <Lockable>
            <button type="button" onClick={() => onUse(offered)}>
              Use “{shorten(offered, longestOffer)}”
            </button>
          </Lockable>
        )}
        <p class="faint">
          {why}
          {/* Screen readers do not announce marks, so the words are listed too. */}
          <span class="only-heard">
            {" "}
            {pieces
              .filter(({ isKnown }) => !isKnown)
              .map(({ text }) => text)
              .join(", ")}
          </span>
        </p>
      </div>
    </div>
  );
}
