/** The answer positions of an input, if the task does not give them. */
import type { Alignment } from "heed/models";
import type { Input } from "../../../shared/typed";

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/**
 * For each closing bracket the position of its opening one. The last entry has the position of the last bracket that is
 * still open.
 */
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

/** The bracket that closes the last open one. */
export function closerOf(tokens: readonly string[]): string | null {
  const last = bracketPlaces(tokens).at(-1)?.[0];
  return last === undefined ? null : (closers[tokens[last] as string] as string);
}

/**
 * The answer positions of typed input that the task does not solve. For brackets they are the opening ones, for pronouns
 * the words that the model answers. Null if neither is known, and for pictures, which cannot be typed.
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
