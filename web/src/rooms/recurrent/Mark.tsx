/** Marks a token as right or wrong, by a sign and by a colour. */
import { endToken } from "./problem";
import { visible } from "./state";

/** The right token at a position, which is the end token after the last character. Undefined if no answer is known. */
export function rightAt(target: readonly string[] | null, place: number): string | undefined {
  return target === null ? undefined : (target[place] ?? endToken);
}

export function markOf(token: string, right: string | undefined): "right" | "wrong" | "unknown" {
  if (right === undefined) return "unknown";
  return token === right ? "right" : "wrong";
}

const signs = { right: "✓", wrong: "✗", unknown: "" };

/** A token of an answer; a word, such as the end token, is smaller than a character. */
export function Token({ token, mark }: { token: string; mark: ReturnType<typeof markOf> }) {
  const text = visible(token);
  return (
    <>
      <b class={text.length > 1 ? `${mark} word` : mark}>{text}</b>
      <VerdictMark mark={mark} />
    </>
  );
}

function VerdictMark({ mark }: { mark: ReturnType<typeof markOf> }) {
  return (
    <span class={`mark ${mark}`} aria-hidden="true">
      {signs[mark]}
    </span>
  );
}
