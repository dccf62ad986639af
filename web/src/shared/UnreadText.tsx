/** A typed text that the model cannot read: its unknown words are marked, and a text that can be read is offered. */
import { shorten } from "heed/view/parts";
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
  return (
    <div class="unread" role="status">
      <p class="unread-text">
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
