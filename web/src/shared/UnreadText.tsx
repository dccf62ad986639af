/** A typed text that the model cannot read: its unknown words are marked, and a text that can be read is offered. */
import { shorten } from "heed/view/parts";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Lockable } from "./Panel";
import type { UnreadableText } from "./typed";

/** The most characters of an offered text on its button. */
const longestOffer = 44;

export function UnreadText({
  unread: { why, pieces, nearest },
  instead,
  onUse,
}: {
  unread: UnreadableText;
  /** What is offered if no near text can be read. */
  instead: string | null;
  onUse(text: string): void;
}) {
  const offered = nearest ?? instead;
  const line = useRef<HTMLParagraphElement>(null);
  // The first unknown word is in view, however long the text is.
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
      <div class="unread-why">
        {offered !== null && (
          <Lockable>
            <button type="button" onClick={() => onUse(offered)}>
              Use “{shorten(offered, longestOffer)}”
            </button>
          </Lockable>
        )}
        <p class="faint">
          {why}
          {/* Marks are seen and not heard. */}
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
