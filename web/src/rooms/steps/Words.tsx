/**
 * Text with words that highlight their parts of the picture, written as [word](matrix). usePointing.ts handles every
 * element with `data-highlights`.
 */
import { kindOf, type MatrixName } from "./matrices";

function Word({ text, matrix }: { text: string; matrix: MatrixName }) {
  const { role } = kindOf(matrix);
  // A button, so that it can be reached by keyboard and by touch.
  return (
    <button type="button" class={role ? `word role-${role}` : "word"} data-highlights={matrix}>
      {text}
    </button>
  );
}

const marked = /\[([^\]]+)\]\((\w+)\)/;

export function Words({ text }: { text: string }) {
  // Every third part is text without marks. The others are words and their matrices.
  const parts = text.split(marked);
  return parts.map((part, i) => {
    if (i % 3 === 0) return part;
    return i % 3 === 1 && <Word key={i} text={part} matrix={parts[i + 1] as MatrixName} />;
  });
}
