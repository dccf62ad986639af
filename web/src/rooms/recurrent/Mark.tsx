/** Marks a token as right or wrong, by a sign and by a colour. */
import { endToken } from "./problem";
import { visible } from "./state";

export type Mark = "right" | "wrong" | "unknown";

/** The right token at a place, which is the end token after the last character. */
export const rightAt = (target: readonly string[], place: number): string =>
  target[place] ?? endToken;

/** @param place the place in the right answer that the token corresponds to; null for an extra token */
export function markOf(
  token: string,
  target: readonly string[] | null,
  place: number | null | undefined,
): Mark {
  if (target === null) return "unknown";
  return place != null && token === rightAt(target, place) ? "right" : "wrong";
}

const signs = { right: "✓", wrong: "✗", unknown: "" };

/** A token of an answer; a word, such as the end token, is smaller than a character. */
export function Token({ token, mark }: { token: string; mark: Mark }) {
  const text = visible(token);
  return (
    <>
      <b class={text.length > 1 ? `${mark} word` : mark}>{text}</b>
      <span class={`mark ${mark}`} aria-hidden="true">
        {signs[mark]}
      </span>
    </>
  );
}
