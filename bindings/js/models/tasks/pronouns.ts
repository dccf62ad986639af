// Who is it? Sentences of a grammar of our own, in which each pronoun means one thing or one person. The rules:
//
// 1. She, he and it agree with what they mean; they are two people named with "and", neither of whom is then
//    meant alone.
// 2. Where two of the same kind play different roles, what is said of the pronoun tells which: who is tired was
//    helped, who is kind helped, but who is kind was praised; who needed it was given it, and so on, as
//    grammar.ts has it for each verb. It is what is said that counts, not who is named first: a clause with
//    "because" may stand in front, and the verb may be passive.
// 3. Of two things, "it" is the one that what is done with it, or how it is, goes with: one eats the pear and
//    not the violin. What is needed, asked for or done without is what was given. Who makes
//    something gives it, and what is made is what is given.
// 4. Whoever only stands by ("in front of Emma"), and what is only owned or beside it, is not meant, and neither
//    is a place.

import { describe, refuse } from "../../core/error.js";
import type { Generator } from "../../nn/random.js";
import type { Tagging, Task } from "../examples.js";
import { below, choose, shuffle } from "./draw.js";
import {
  choices,
  deedClauses,
  deeds,
  gifts,
  kinds,
  meetings,
  names,
  places,
  shows,
  small,
  transfers,
} from "./grammar.js";
import { checkText, drawFrom, withDefaults } from "./task.js";

/** A word of a sentence. */
interface Word {
  readonly text: string;
  /** What a pronoun means: a name or two, or a thing. */
  readonly means?: readonly Word[];
}

type Gender = "she" | "he" | "they" | "it";

/** Somebody or something in a sentence. */
interface Figure {
  readonly words: readonly Word[];
  readonly nouns: readonly Word[];
  readonly gender: Gender;
}

const objects: Readonly<Record<Gender, string>> = { she: "her", he: "him", they: "them", it: "it" };
const wordsOf = (text: string): Word[] => text.split(" ").map((word) => ({ text: word }));

type Slots = Readonly<Record<string, Figure | readonly Word[] | string>>;

/** Fills in figures, their pronouns, phrases and words. After a subject of two, "was" is "were". */
function fill(template: string, slots: Slots, subject?: Gender): Word[] {
  let before = subject;
  return template.split(" ").flatMap((piece): readonly Word[] => {
    const isPlural = before === "they";
    const given = before;
    before = undefined;
    const [, sign, form, name] = /^([$@])(?:(\w+):)?(\w+)$/.exec(piece) ?? [];
    if (name === undefined) return [{ text: piece === "was" && isPlural ? "were" : piece }];
    const slot = slots[name] as Slots[string];
    if (typeof slot === "string") return fill(slot, slots, given);
    if (!("nouns" in slot)) return slot;
    before = slot.gender;
    if (sign === "$") return slot.words;
    return [{ text: form === "her" ? objects[slot.gender] : slot.gender, means: slot.nouns }];
  });
}

/** Draws whom and what a sentence is about, nobody and nothing twice. */
class Cast {
  readonly #random: Generator;
  readonly #names: Record<"she" | "he", string[]>;
  readonly #kinds: (typeof kinds)[number][];
  readonly #places: string[];

  constructor(random: Generator) {
    this.#random = random;
    this.#names = { she: shuffle(random, names.she), he: shuffle(random, names.he) };
    this.#kinds = shuffle(random, kinds);
    this.#places = shuffle(random, places);
  }

  is(share: number): boolean {
    return below(this.#random, 100) < share * 100;
  }

  choose<T>(list: readonly T[]): T {
    return choose(this.#random, list);
  }

  gender(but?: Gender): Gender {
    const others = (["she", "he", "she", "he", "they"] as const).filter((each) => each !== but);
    return this.choose(others);
  }

  person(gender = this.gender()): Figure {
    if (gender !== "she" && gender !== "he") {
      const [first, second] = [this.person(this.single()), this.person(this.single())];
      const nouns = [...first.nouns, ...second.nouns];
      return { words: [...first.words, { text: "and" }, ...second.words], nouns, gender: "they" };
    }
    const name = { text: this.#names[gender].pop() as string };
    return { words: [name], nouns: [name], gender };
  }

  single(): "she" | "he" {
    return this.choose(["she", "he"]);
  }

  /** Two that their pronouns tell apart, or, more often, do not. */
  two(areAlike = this.is(0.8)): [Figure, Figure] {
    const first = this.gender();
    return [this.person(first), this.person(areAlike ? first : this.gender(first))];
  }

  /** Of a kind of its own, and the words that go with it. */
  thing(): { figure: Figure; words: Record<"do" | "did" | "done" | "quality" | "made", string> } {
    const kind = this.#kinds.pop() as (typeof kinds)[number];
    const head = { text: this.choose(kind.nouns) };
    const article = this.choose(["the", /^[aeiou]/.test(head.text) ? "an" : "a"]);
    const [doing, did, done] = this.choose(kind.verbs);
    return {
      figure: { words: [{ text: article }, head], nouns: [head], gender: "it" },
      words: {
        ...{ do: doing, did, done },
        ...{ quality: this.choose(kind.qualities), made: this.choose(kind.made) },
      },
    };
  }

  where(): Word[] {
    return wordsOf(`${this.choose(small.where)} the ${this.#places.pop()}`);
  }

  /** Somebody of whom is said what else there is: between commas. */
  owning(figure: Figure): Figure {
    const words = fill(this.choose(small.owning), { thing: this.thing().figure });
    return { ...figure, words: [...figure.words, ...words] };
  }

  /** Where it was, or who stood by. */
  circumstance(): Word[] {
    if (this.is(0.4)) return [];
    if (this.is(0.5)) return this.where();
    return [...wordsOf(this.choose(small.before)), ...this.person(this.single()).words];
  }
}

/** A clause with what it was for, in front of it or after it, or with what came of it. */
function withReason(cast: Cast, clause: Word[], because: string, so: string, slots: Slots): Word[] {
  const main = [...clause, ...cast.circumstance()];
  if (cast.is(0.4)) return [...main, ...fill(`so ${so}`, slots)];
  const reason = fill(`because ${because}`, slots);
  return cast.is(0.4) ? [...reason, { text: "," }, ...main] : [...main, ...reason];
}

/** Two things, the words that go with the first, and places for them. */
function someThings(cast: Cast): Slots {
  const { figure: thing, words } = cast.thing();
  return {
    ...words,
    ...{ thing, other: cast.thing().figure, beside: cast.choose(small.beside) },
    ...{ where: cast.where(), elsewhere: cast.where() },
  };
}

function deed(cast: Cast): Word[] {
  const { did, because, so } = cast.choose(deeds);
  const [agent, patient] = cast.two();
  const slots = { agent, patient, did: cast.choose(did) };
  const clause = fill(cast.choose(deedClauses), slots);
  return withReason(cast, clause, cast.choose(because), cast.choose(so), slots);
}

function transfer(cast: Cast): Word[] {
  const [gave, given] = cast.choose(transfers.gave);
  const people = cast.two();
  // Which of them, if any, owns something that is not meant.
  const owner = cast.choose([0, 1, undefined, undefined]);
  const [giver, receiver] = people.map((figure, i) =>
    i === owner ? cast.owning(figure) : figure,
  ) as [Figure, Figure];
  const { figure: thing, words } = cast.thing();
  const verbs = { ...words, gave, given, got: cast.choose(transfers.got) };
  const slots = { ...verbs, giver, receiver, thing };
  const clause = fill(cast.choose(transfers.clauses), slots);
  return withReason(cast, clause, cast.choose(transfers.because), cast.choose(transfers.so), slots);
}

function choice(cast: Cast): Word[] {
  const slots = { ...someThings(cast), person: cast.person(), second: cast.person() };
  return fill(cast.choose([...choices, ...gifts]), slots);
}

function meeting(cast: Cast): Word[] {
  const [a, b] = cast.two(false);
  const [x, y] = cast.is(0.5) ? [a, b] : [b, a];
  const slots = { ...someThings(cast), a, b, x, y, neutral: cast.choose(small.neutral) };
  return fill(cast.choose([...meetings, ...shows]), slots);
}

/** Those that need more than a pronoun's gender come more often. */
const scenes = [deed, deed, transfer, transfer, choice, choice, meeting];

/** Every word that a table has, but for what is filled in. */
function allWords(table: unknown): string[] {
  if (typeof table === "string") return table.split(" ").filter((word) => !/^[$@]/.test(word));
  return Object.values(table as object).flatMap(allWords);
}

const sentences = [deeds, deedClauses, transfers, choices, gifts, meetings, shows];
const known = [...new Set(allWords([names, kinds, places, small, sentences]))].sort();
const answers = allWords([names, kinds.map(({ nouns }) => nouns)]).sort();
const nouns = new Set([...answers, ...places]);
const contentOf = (source: readonly string[]) =>
  source.flatMap((word, place) => (nouns.has(word) ? [place] : []));
const [leastWords, mostWords] = [8, 24];

function drawSentence(random: Generator): Word[] {
  for (;;) {
    const cast = new Cast(random);
    const opening = cast.is(0.15) ? [...wordsOf(cast.choose(small.times)), { text: "," }] : [];
    const words = [...opening, ...cast.choose(scenes)(cast), { text: "." }];
    // A comma that closes what is said of somebody is not needed where something else ends.
    const said = words.filter(
      ({ text }, i) => text !== "," || !/^[,.]$/.test(words[i + 1]?.text ?? ""),
    );
    if (said.length >= leastWords && said.length <= mostWords) return said;
  }
}

/** The words of a text, as sentences here have them: with a full stop, and names alone with a capital. */
function tokensOf(text: string): string[] {
  checkText(text);
  const words = (text.match(/[A-Za-z]+|[^\sA-Za-z]/g) ?? []).map((word, place) => {
    const lower = word.toLowerCase();
    const found = [word, lower, lower.replace(/^./, (first) => first.toUpperCase())].find((form) =>
      known.includes(form),
    );
    if (found === undefined)
      throw refuse("option", `text: word ${place}`, "a word of the grammar", describe(word));
    return found;
  });
  return words.at(-1) === "." ? words : [...words, "."];
}

function write(tokens: readonly string[]): string {
  const text = tokens.join(" ").replace(/ (?=[,.])/g, "");
  return text.replace(/^./, (first) => first.toUpperCase());
}

/** Sentences of 8 to 24 words and stops, with one pronoun or two; a pair's label is its first name. */
export function pronouns(given: Record<string, never> = {}): Task<Tagging> {
  const options = withDefaults("pronouns", {}, given, {});
  return {
    name: "pronouns",
    about: "Say whom or what each pronoun of a sentence means.",
    kind: "tagging",
    options,
    vocabulary: { source: known, target: answers },
    longest: { source: mostWords, target: mostWords },
    generate(random, split) {
      const textOf = (words: readonly Word[]) => words.map(({ text }) => text).join(" ");
      const words = drawFrom("pronouns", split, () => drawSentence(random), textOf);
      const source = words.map(({ text }) => text);
      return {
        kind: "tagging",
        source,
        labels: words.map(({ means }) => means?.[0]?.text),
        alignment: words.map(({ means }) => (means ?? []).map((word) => words.indexOf(word))),
        content: contentOf(source),
      };
    },
    read(text) {
      const source = tokensOf(text);
      return {
        kind: "tagging",
        source,
        labels: source.map((word) => (small.pronouns.includes(word) ? "?" : undefined)),
        alignment: source.map(() => []),
        content: contentOf(source),
      };
    },
    write,
  };
}
