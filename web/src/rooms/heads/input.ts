/** The places that the answer to an input comes from, where the task itself does not tell. */
import type { Alignment } from "heed/models";
import type { Input } from "../../shared/typed";

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** For each bracket that closes one, the place of that one; and at the end, that of the last that is still open. */
function bracketPlaces(tokens: readonly string[]): number[][] {
  const open: number[] = [];
  const places = tokens.map((token, place) => {
    if (closers[token]) {
      open.push(place);
      return [];
    }
    const opener = open.pop();
    return opener === undefined || closers[tokens[opener] as string] !== token ? [] : [opener];
  });
  return [...places, open.slice(-1)];
}

/** The bracket that has to close the last one that is open. */
export function closerOf(tokens: readonly string[]): string | null {
  const last = bracketPlaces(tokens).at(-1)?.[0];
  return last === undefined ? null : (closers[tokens[last] as string] as string);
}

/**
 * The places that answers come from, for what a person typed and the task does not solve: those of brackets, and of
 * the words that the model says. Null where neither is known, and of pictures, which nobody types.
 *
 * @param answered the input with the model's answer
 */
export function placesOf(answered: Input): Alignment | null {
  if (answered.kind === "continuation") return bracketPlaces(answered.tokens);
  if (answered.kind === "picture") return null;
  const { source } = answered;
  const placesOfToken = (token: string | undefined) =>
    source.flatMap((other, place) => (other === token ? [place] : []));
  if (answered.kind === "tagging") return answered.labels.map(placesOfToken);
  return null;
}
