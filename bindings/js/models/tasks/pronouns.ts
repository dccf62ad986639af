// The task of pronouns: which person or thing does a pronoun mean? The sentences come from a
// grammar in which each pronoun means exactly one thing, one person or one pair. The rules:
//
// 1. She, he and it agree in gender with their meaning. They means two people who are named with
//    "and"; in that case no pronoun means one of the two alone.
// 2. If two figures of the same kind have different roles, the statement about the pronoun decides.
//    Someone who is tired was helped. Someone who is kind helped, or was praised. Someone who
//    needed a thing was given it. The file grammar.ts has the rule of each verb. The order of the
//    names does not decide: a clause with "because" may come first, and the verb may be passive.
// 3. Of two things, "it" means the one that fits the verb or the adjective: people eat a pear and
//    not a violin. A thing that is needed, asked for or done without is the given one. A person who
//    makes a thing gives it, and the thing that is made is the given one.
// 4. A pronoun never means a bystander ("in front of Emma"), a place, or a thing that is only owned
//    or only near another thing.

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
  /** The meaning of a pronoun: one name, two names, or a thing. */
  readonly means?: readonly Word[];
}

type Gender = "she" | "he" | "they" | "it";

/** A person, a pair or a thing in a sentence. */
interface Figure {
  readonly words: readonly Word[];
  readonly nouns: readonly Word[];
  readonly gender: Gender;
}

const objects: Readonly<Record<Gender, string>> = { she: "her", he: "him", they: "them", it: "it" };
const wordsOf = (text: string): Word[] => text.split(" ").map((word) => ({ text: word }));

type Slots = Readonly<Record<string, Figure | readonly Word[] | string>>;

/**
 * Replaces the names in a template by figures, pronouns, phrases and words. "was" becomes "were"
 * after a subject of two people.
 */
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

/** Draws the people, things and places of a sentence, none of them twice. */
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

  /** Draws two figures. Their pronouns are equal with probability 0.8, unless `areAlike` is given. */
  two(areAlike = this.is(0.8)): [Figure, Figure] {
    const first = this.gender();
    return [this.person(first), this.person(areAlike ? first : this.gender(first))];
  }

  /** Draws a thing of a kind that the sentence does not have yet, and words that fit it. */
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

  /** Adds to a figure a clause about a thing that the figure owns, between commas. */
  owning(figure: Figure): Figure {
    const words = fill(this.choose(small.owning), { thing: this.thing().figure });
    return { ...figure, words: [...figure.words, ...words] };
  }

  /** Draws a place, a bystander or nothing. */
  circumstance(): Word[] {
    if (this.is(0.4)) return [];
    if (this.is(0.5)) return this.where();
    return [...wordsOf(this.choose(small.before)), ...this.person(this.single()).words];
  }
}

/** Adds a result after the clause, or a reason before or after it. */
function withReason(cast: Cast, clause: Word[], because: string, so: string, slots: Slots): Word[] {
  const main = [...clause, ...cast.circumstance()];
  if (cast.is(0.4)) return [...main, ...fill(`so ${so}`, slots)];
  const reason = fill(`because ${because}`, slots);
  return cast.is(0.4) ? [...reason, { text: "," }, ...main] : [...main, ...reason];
}

/** Draws two things, words that fit the first, and two places. */
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
  // The index of the person who owns a thing that no pronoun means; undefined if there is none.
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

/** The scenes. Scenes in which the gender of a pronoun does not suffice are more frequent. */
const scenes = [deed, deed, transfer, transfer, choice, choice, meeting];

/** Returns all words of a table except the names to be replaced. */
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
    // Removes the comma at the end of a clause about an owned thing if another comma or a full stop follows.
    const said = words.filter(
      ({ text }, i) => text !== "," || !/^[,.]$/.test(words[i + 1]?.text ?? ""),
    );
    if (said.length >= leastWords && said.length <= mostWords) return said;
  }
}

/** Splits a text into words as the sentences here have them: with a full stop, and with capitals for names only. */
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

/**
 * The task of pronouns. Sentences have 8 to 24 words and punctuation marks, with one or two
 * pronouns. The label of a pair is the first of its names.
 */
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
