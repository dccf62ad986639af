// The tasks: their examples are the same on all machines, right, and each in one split only.

import {
  BytePairs,
  type Example,
  type Picture,
  type Series,
  type Split,
  type Tagging,
  type Task,
  taskOf,
  tasks,
} from "heed/models";
import { nn } from "heed/nn";
import { describe, expect, test } from "vitest";
import { refusal } from "../engine.js";

const splits: readonly Split[] = ["train", "validation", "test"];

function draws<E extends Example>(task: Task<E>, count: number, seed = 1, split: Split = "train") {
  const random = new nn.Generator(seed);
  return Array.from({ length: count }, () => task.generate(random, split));
}

const sourceOf = (example: Example): readonly string[] =>
  "source" in example ? example.source : "tokens" in example ? example.tokens : [];

/** All tasks, with several options. */
const all: readonly Task[] = [
  ...Object.keys(tasks).map((name) => taskOf(name)),
  tasks.dates({ tokens: "subword" }),
  tasks.dates({ forms: "short" }),
  tasks.sort({ letters: 3, maxLength: 40 }),
];

describe("every task", () => {
  test("draws the recorded examples", () => {
    const first = <E extends Example>(task: Task<E>) => draws(task, 1, 1, "test")[0] as E;
    expect(first(tasks.reverse()).source.join("")).toBe("vhhhridhqnf");
    expect(first(tasks.dates()).source.join("")).toBe("April 2, 1978");
    expect(first(tasks.pronouns()).source.join(" ")).toBe(
      "the truck was sent to Helen and Dora by Jack and Carl so they thanked them .",
    );
    expect(first(tasks.brackets()).tokens.join("")).toBe("()()()()([{}([[([])]])])");
    const { values, isHidden } = first(tasks.series());
    expect(Array.from(values.slice(0, 6), (value) => value * 1024)).toEqual([
      631, 848, -430, 444, 952, 447,
    ]);
    expect(isHidden.indexOf(true)).toBe(22);
    const { label, pixels } = first(tasks.shapes());
    const shades = Array.from(pixels, (pixel) => Math.round(pixel * 255));
    expect([label, ...shades.slice(300, 306)]).toEqual(["disc", 114, 6, 29, 16, 30, 28]);
    expect(shades.reduce((sum, shade) => sum + shade, 0)).toBe(18377);
  });

  test("gives the same examples for the same seed, and others for another", () => {
    for (const task of all) {
      expect(draws(task, 5)).toEqual(draws(task, 5));
      expect(draws(task, 5)).not.toEqual(draws(task, 5, 2));
    }
  });

  test("gives examples of its kind, vocabulary and sizes", () => {
    for (const task of all) {
      const known = new Set(task.vocabulary.source);
      const answers = new Set(task.vocabulary.target);
      expect([...known]).toEqual([...known].sort());
      expect([...answers]).toEqual([...answers].sort());
      for (const example of splits.flatMap((split) => draws(task, 100, 3, split))) {
        expect(example.kind).toBe(task.kind);
        const source = sourceOf(example);
        expect(source.length).toBeLessThanOrEqual(task.longest.source);
        expect(source.filter((token) => !known.has(token))).toEqual([]);
        const target = "target" in example ? example.target : [];
        const labels = "labels" in example ? example.labels.filter((label) => label) : [];
        expect(target.length).toBeLessThanOrEqual(task.longest.target);
        expect([...target, ...labels].filter((token) => !answers.has(token as string))).toEqual([]);
        if ("label" in example) expect(answers).toContain(example.label);
      }
    }
  });

  test("reads what it writes, without the answer", () => {
    for (const task of all) {
      for (const example of draws(task, 50)) {
        const source = sourceOf(example);
        if (source.length === 0 || !task.read) continue;
        const question = task.read(task.write?.(source) ?? "");
        expect(question.kind).toBe(task.kind);
        expect(sourceOf(question)).toEqual(source);
        if (question.kind === "tagging" && example.kind === "tagging") {
          expect(question.labels).toEqual(example.labels.map((label) => label && "?"));
          expect(question.content).toEqual(example.content);
        }
      }
    }
  });
});

/** The identity of an example, computed from the example alone. */
const identities: Record<string, { task: Task; identity: (example: never) => string }> = {
  copy: { task: tasks.copy(), identity: (e: Example) => sourceOf(e).join("") },
  reverse: {
    task: tasks.reverse({ maxLength: 3 }),
    identity: (e: Example) => sourceOf(e).join(""),
  },
  sort: { task: tasks.sort(), identity: (e: Example) => sourceOf(e).join("") },
  dates: { task: tasks.dates(), identity: ({ target }: { target: string[] }) => target.join("") },
  pronouns: { task: tasks.pronouns(), identity: (e: Example) => sourceOf(e).join(" ") },
  brackets: { task: tasks.brackets(), identity: (e: Example) => sourceOf(e).join("") },
  series: { task: tasks.series({ noise: 0, trend: 0 }), identity: cycleOf },
  shapes: { task: tasks.shapes({ noise: 0, speckles: 0 }), identity: drawingOf },
};

function periodOf(values: Float32Array): number {
  const isPeriod = (period: number) =>
    values.every((value, t) => t < period || value === values[t - period]);
  return [...values.keys()].find((period) => period > 0 && isPeriod(period)) as number;
}

/** Returns the rotation of the cycle that is first in lexicographic order. */
function cycleOf({ values }: Series): string {
  const cycle = Array.from(values.slice(0, periodOf(values)));
  const turned = cycle.map((_, i) => [...cycle.slice(i), ...cycle.slice(0, i)].join(" "));
  return turned.sort()[0] as string;
}

/** Returns the coverage of each pixel, independent of brightness. */
function drawingOf({ pixels, label }: Picture): string {
  const [dark, bright] = [Math.min(...pixels), Math.max(...pixels)];
  return label + Array.from(pixels, (p) => Math.round((16 * (p - dark)) / (bright - dark))).join();
}

describe("splits", () => {
  for (const [name, { task, identity }] of Object.entries(identities)) {
    test(`of ${name} share no example`, () => {
      // An example of one of the small splits takes about sixteen draws.
      const count = name === "shapes" ? 150 : 500;
      const seen = splits.map(
        (split) => new Set(draws(task, count, 5, split).map((e) => identity(e as never))),
      );
      const together = new Set(seen.flatMap((set) => [...set]));
      expect(together.size).toBe(seen.reduce((sum, set) => sum + set.size, 0));
    });
  }

  test("are the same for all options", () => {
    const held = draws(tasks.reverse({ minLength: 2, maxLength: 2 }), 200, 6, "test");
    const learned = draws(tasks.reverse({ maxLength: 3 }), 2000, 6);
    const sources = new Set(learned.map(({ source }) => source.join("")));
    for (const { source } of held) expect(sources).not.toContain(source.join(""));
  });

  test("that have no examples are refused", () => {
    const task = tasks.copy({ letters: 1, maxLength: 1 });
    const random = new nn.Generator(0);
    expect(task.generate(random, "validation").source).toEqual(["a"]);
    const { code, message } = refusal(() => task.generate(random, "test"));
    expect([code, message]).toEqual([
      "option",
      'split: expected a split with examples of copy under these options, got "test": none in ' +
        "4096 draws, because too few examples are different",
    ]);
  });
});

describe("letters", () => {
  const solve: Record<string, (source: readonly string[]) => string> = {
    copy: (source) => source.join(""),
    reverse: (source) => source.reduce((text, letter) => letter + text, ""),
    sort: (source) =>
      [..."abcdefghijklmnopqrstuvwxyz"]
        .map((letter) => letter.repeat(source.filter((other) => other === letter).length))
        .join(""),
  };

  test("have answers whose letters are aligned with the same letters", () => {
    for (const name of ["copy", "reverse", "sort"] as const) {
      for (const example of draws(tasks[name](), 500)) {
        const { source, target, alignment } = example;
        expect(tasks[name]().solve?.(source.join(""))).toEqual(example);
        expect(target.join("")).toBe(solve[name]?.(source));
        const told = alignment.map((places) => [...new Set(places.map((place) => source[place]))]);
        expect(told).toEqual(target.map((letter) => [letter]));
        // Reversed and copied letters each come from a different position.
        if (name !== "sort") expect(new Set(alignment.flat()).size).toBe(source.length);
      }
    }
  });

  test("that a person types have no answer if one is unknown", () => {
    const { solve } = tasks.sort({ letters: 3 });
    expect(solve?.("cab")?.target.join("")).toBe("abc");
    for (const text of ["", "cad", "ca b", "CAB"]) expect(solve?.(text)).toBeUndefined();
  });

  test("have all lengths, the longest most often", () => {
    const counts = new Map<number, number>();
    for (const { source } of draws(tasks.sort(), 4000))
      counts.set(source.length, (counts.get(source.length) ?? 0) + 1);
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual(
      [...Array(16).keys()].map((i) => i + 1),
    );
    expect(counts.get(16)).toBeGreaterThan(4000 / 10);
  });

  test("of other lengths have the same vocabulary", () => {
    const longer = tasks.reverse({ minLength: 20, maxLength: 20 });
    expect(longer.vocabulary).toEqual(tasks.reverse().vocabulary);
    expect(draws(longer, 20).every(({ source }) => source.length === 20)).toBe(true);
  });
});

describe("dates", () => {
  const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
  const monthOf = (text: string) =>
    /[a-z]/i.test(text) ? months.indexOf(text.slice(0, 3).toLowerCase()) + 1 : Number(text);
  const words = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth";
  const tens: Record<string, number> = { twentieth: 20, thirtieth: 30, twenty: 20, thirty: 30 };
  const dayOf = (text: string): number => {
    if (/\d/.test(text)) return Number.parseInt(text, 10);
    if (text.includes("-")) return text.split("-").reduce((sum, part) => sum + dayOf(part), 0);
    const stem = { thirteenth: 13, fifteenth: 15, eighteenth: 18 }[text];
    if (stem !== undefined) return stem;
    if (tens[text] !== undefined) return tens[text];
    const teen = /^(four|six|seven|nine)teenth$/.exec(text)?.[1];
    if (teen !== undefined) return 10 + { four: 4, six: 6, seven: 7, nine: 9 }[teen as "four"];
    return words.split(" ").indexOf(text) + 1;
  };

  /** Parses a date in any form without the code of the task: year, month, day. */
  function understand(text: string): number[] {
    const number = (pattern: RegExp) => pattern.exec(text)?.slice(1).map(Number);
    const american = number(/^(\d+)\/(\d+)\/(\d{4})$/);
    if (american) return [american[2], american[0], american[1]] as number[];
    const dotted = number(/^(\d+)\.(\d+)\.(\d{4})$/);
    if (dotted) return dotted.reverse();
    const whole = number(/^(\d{4})\/?(\d\d)\/?(\d\d)$/);
    if (whole) return whole;
    const year = Number(/\d{4}/.exec(text)?.[0]);
    const month = months.findIndex((name) => new RegExp(`\\b${name}`, "i").test(text)) + 1;
    const rest = text.replace(/\d{4}/, "");
    const ordinal = /\bthe ([a-z-]+) of\b/.exec(rest)?.[1] ?? /\d+/.exec(rest)?.[0];
    return [year, month, dayOf(ordinal as string)];
  }

  test("have correct answers, in all of their forms", () => {
    const shapes = new Set<string>();
    for (const { source, target } of draws(tasks.dates(), 3000)) {
      const text = source.join("");
      const [year, month, day] = understand(text) as [number, number, number];
      const answer = new Date(Date.UTC(year, month - 1, day));
      expect([text, answer.toISOString().slice(0, 10)]).toEqual([text, target.join("")]);
      const weekday = /\b(Sun|Mon|Tue|Wed|Thu|Fri|Sat)/.exec(text)?.[1];
      if (weekday) expect("SunMonTueWedThuFriSat".indexOf(weekday) / 3).toBe(answer.getUTCDay());
      shapes.add(
        text
          .replace(/[A-Z][a-z]+/g, "X")
          .replace(/\d+/g, "0")
          .replace(/\w+-?\w+ of/, "th of"),
      );
    }
    expect(shapes.size).toBeGreaterThanOrEqual(14);
  });

  test("are aligned with the characters that determine each digit", () => {
    for (const options of [{}, { tokens: "subword" }, { forms: "long" }] as const) {
      for (const { source, target, alignment } of draws(tasks.dates(options), 500)) {
        const told = alignment.map((places) => places.map((place) => source[place]).join(""));
        for (const year of [0, 1, 2, 3]) expect(told[year]).toContain(target[year]);
        expect([told[4], told[5], told[7], told[8]]).toEqual(["", told[6], "", told[9]]);
        if ("tokens" in options) continue;
        expect(monthOf(told[5] as string)).toBe(Number(target.slice(5, 7).join("")));
        expect(dayOf(told[8] as string)).toBe(Number(target.slice(8).join("")));
      }
    }
  });

  test("are short or long", () => {
    const lengths = (forms: "short" | "long") =>
      draws(tasks.dates({ forms }), 500).map(({ source }) => source.length);
    expect(Math.max(...lengths("short"))).toBe(15);
    expect(Math.max(...lengths("long"))).toBeGreaterThan(30);
    expect(tasks.dates({ forms: "short" }).vocabulary).toEqual(tasks.dates().vocabulary);
  });

  test("are read in every form that they are written in, and in no other", () => {
    const all = tasks.dates();
    for (const task of [all, tasks.dates({ tokens: "subword" })])
      for (const example of draws(task, 500))
        expect(task.solve?.(example.source.join(""))).toEqual(example);
    const told = (text: string) => all.solve?.(text)?.target.join("");
    expect(told("the 3rd of March, 2021")).toBe("2021-03-03");
    expect(told("Wed 3 Mar 2021")).toBe("2021-03-03");
    for (const text of ["Thu 3 Mar 2021", "the 3th of March, 2021", "31.02.2021", "2021", "3+3"])
      expect(told(text)).toBeUndefined();
  });

  test("of subwords are the same dates in fewer tokens", () => {
    const random = [1, 1].map(() => new nn.Generator(9)) as [nn.Generator, nn.Generator];
    const [characters, subwords] = [tasks.dates(), tasks.dates({ tokens: "subword" })];
    const lengths = [0, 0] as [number, number];
    for (let i = 0; i < 300; i++) {
      const [a, b] = [characters.generate(random[0], "test"), subwords.generate(random[1], "test")];
      expect(b.source.join("")).toBe(a.source.join(""));
      expect(b.target).toEqual(a.target);
      lengths[0] += a.source.length;
      lengths[1] += b.source.length;
    }
    expect(lengths[1]).toBeLessThan(0.6 * lengths[0]);
  });
});

describe("byte pairs", () => {
  const texts = ["low low low low low", "lower lower", "newest newest newest newest newest newest"];

  test("are merged by their frequency, ties in lexicographic order", () => {
    // "we" occurs 8 times and "lo" 7 times; then five pairs occur 6 times each, as all pairs of "newest".
    const { merges } = BytePairs.learn([..." elnorstw"], texts, 4);
    expect(merges).toEqual([
      ["w", "e"],
      ["l", "o"],
      ["e", "we"],
      ["ewe", "s"],
    ]);
  });

  test("restore the text, also with unknown characters", () => {
    const pairs = BytePairs.learn([..." elnorstw"], texts, 12);
    for (const text of [...texts, "newer tones", " r ", "w"]) {
      const tokens = pairs.encode(text);
      expect(tokens.join("")).toBe(text);
      for (const token of tokens) expect(pairs.tokens).toContain(token);
    }
    expect(pairs.encode("newest").length).toBe(1);
    expect(refusal(() => pairs.encode("new!")).message).toMatch(/^text\[3\]: .* got "!"$/);
  });

  test("end when every word is one token", () => {
    expect(BytePairs.learn(["a", "b"], ["ab"], 10).merges).toEqual([["a", "b"]]);
  });
});

describe("brackets", () => {
  test("are balanced, within the limits of length and depth", () => {
    const task = tasks.brackets({ maxLength: 20, maxDepth: 4 });
    let deepest = 0;
    for (const { tokens } of draws(task, 1000)) {
      let left = tokens.join("");
      const depths = tokens.map((_, i) =>
        tokens
          .slice(0, i + 1)
          .reduce((depth, token) => depth + ("([{".includes(token) ? 1 : -1), 0),
      );
      deepest = Math.max(deepest, ...depths);
      while (/\(\)|\[\]|\{\}/.test(left)) left = left.replace(/\(\)|\[\]|\{\}/g, "");
      expect(left).toBe("");
    }
    expect(deepest).toBe(4);
  });

  test("have the only label that gives a balanced text", () => {
    for (const { tokens, allowed, alignment } of draws(tasks.brackets(), 300)) {
      for (const [i, token] of tokens.entries()) {
        const isCloser = ")]}".includes(token);
        expect(allowed[i]).toEqual(isCloser ? [token] : undefined);
        const [opener, ...none] = alignment[i] as number[];
        expect(none).toEqual([]);
        if (!isCloser) expect(opener).toBeUndefined();
        else expect(["()", "[]", "{}"]).toContain(`${tokens[opener as number]}${token}`);
        if (!isCloser) continue;
        let inside = tokens.slice((opener as number) + 1, i).join("");
        while (/\(\)|\[\]|\{\}/.test(inside)) inside = inside.replace(/\(\)|\[\]|\{\}/g, "");
        expect(inside).toBe("");
      }
    }
  });
});

describe("pronouns", () => {
  const task = tasks.pronouns();
  const sentences = draws(task, 2000);
  const women = new Set(
    "Alice Anna Clara Dora Emma Grace Helen Julia Laura Maria Nora Ruth".split(" "),
  );
  const men = new Set("Adam Bob Carl David Frank Henry Ivan Jack Leo Martin Oscar Paul".split(" "));
  const isName = (word: string) => women.has(word) || men.has(word);
  const isThing = (word: string) => task.vocabulary.target.includes(word) && !isName(word);

  /** Whether a word can be the meaning of a pronoun, or the first of two names. */
  function agrees(pronoun: string, { source }: Tagging, place: number): boolean {
    const word = source[place] as string;
    if (pronoun === "it") return isThing(word);
    if (/^(she|her)$/.test(pronoun)) return women.has(word);
    if (/^(he|him)$/.test(pronoun)) return men.has(word);
    return isName(word) && source[place + 1] === "and" && isName(source[place + 2] ?? "");
  }

  const answersOf = (sentence: Tagging) =>
    sentence.labels.flatMap((label, place) =>
      label === undefined ? [] : [{ label, place, pronoun: sentence.source[place] as string }],
    );

  test("refer to words that agree with them, one or two in a sentence", () => {
    expect(new Set(sentences.map(({ source }) => source.join(" "))).size).toBeGreaterThan(1950);
    for (const sentence of sentences) {
      const { source, alignment, content } = sentence;
      expect(source.length).toBeGreaterThanOrEqual(8);
      const answers = answersOf(sentence);
      expect([1, 2]).toContain(answers.length);
      for (const { label, place, pronoun } of answers) {
        const [first, ...others] = alignment[place] as [number, ...number[]];
        // A name or a thing occurs once, so the label identifies it.
        expect([source.indexOf(label), source.lastIndexOf(label)]).toEqual([first, first]);
        expect(agrees(pronoun, sentence, first) && content.includes(first)).toBe(true);
        expect(others).toEqual(/^th/.test(pronoun) ? [first + 2] : []);
      }
      const pronouns = source.filter((word) => /^(she|he|they|her|him|them|it)$/.test(word));
      expect(pronouns).toEqual(answers.map(({ pronoun }) => pronoun));
    }
  });

  test("are not determined by the nearest or the first word that agrees", () => {
    const rights = { nearest: 0, first: 0, last: 0, count: 0 };
    for (const sentence of sentences) {
      for (const { label, place, pronoun } of answersOf(sentence)) {
        const places = sentence.content.filter((each) => agrees(pronoun, sentence, each));
        const distance = (each: number) => Math.abs(each - place);
        const nearest = [...places].sort((a, b) => distance(a) - distance(b))[0] as number;
        rights.count++;
        if (sentence.source[nearest] === label) rights.nearest++;
        if (sentence.source[places[0] as number] === label) rights.first++;
        if (sentence.source[places.at(-1) as number] === label) rights.last++;
      }
    }
    for (const guess of ["nearest", "first", "last"] as const)
      expect(rights[guess] / rights.count).toBeLessThan(0.8);
  });

  /** Statements about a pronoun, and whom each is about: the noun before or after another word. */
  const kinds: Record<string, RegExp> = {
    "read|translate|translated|witty|illegible": /^(book|letter|note|poem|story)$/,
    "eat|ate|eaten|taste|tasted|delicious|stale": /^(apple|cake|pear|pie|sandwich)$/,
    "wear|wore|worn|iron|ironed|woollen|tight": /^(coat|hat|jacket|scarf|sweater)$/,
    "play|played|tune|tuned|tuneless|loud": /^(drum|flute|guitar|trumpet|violin)$/,
    "drive|drove|driven|park|parked|fast|rusty": /^(bus|car|taxi|truck|van)$/,
    "water|watered|plant|planted|withered|thirsty": /^(cactus|fern|orchid|rose|tulip)$/,
  };

  test("of things fit the verbs and adjectives of the things", () => {
    let count = 0;
    for (const sentence of sentences) {
      for (const { label, place, pronoun } of answersOf(sentence)) {
        const { source } = sentence;
        const said = source[place + 1] === "was" ? source[place + 2] : source[place - 1];
        const kind = Object.keys(kinds).find((verbs) => verbs.split("|").includes(said ?? ""));
        if (pronoun !== "it" || kind === undefined) continue;
        expect([said, label]).toEqual([said, expect.stringMatching(kinds[kind] as RegExp)]);
        count++;
      }
    }
    expect(count).toBeGreaterThan(500);
  });

  /** Determines roles from the text alone, with a grammar that is independent of the task's. */
  const person =
    "([A-Z][a-z]+)(?: and [A-Z][a-z]+)?(?:, who owned an? \\w+,|, who owned the \\w+,)?";
  const pronoun = "(?:she|he|they)";
  const rules: [RegExp, group: 1 | 2][] = [
    [`${person} (?:helped|supported) ${person}.* because ${pronoun} (?:was|were) tired`, 2],
    [`${person} (?:was|were) (?:helped|supported) by ${person}.* because ${pronoun} had time`, 2],
    [`${person} (?:helped|consoled) ${person}.* because ${pronoun} (?:was|were) kind`, 1],
    [`${person} (?:praised|admired) ${person}.* because ${pronoun} (?:was|were) kind`, 2],
    [`${person} (?:punished|scolded) ${person}.* because ${pronoun} (?:was|were) strict`, 1],
    [`${person} (?:avoided|shunned) ${person}.* because ${pronoun} (?:was|were) strict`, 2],
    [`${person} (?:avoided|shunned) ${person}.* so ${pronoun} hid`, 1],
    [`${person} (?:gave|handed|lent|sent) \\w+ \\w+ to ${person}.* because ${pronoun} needed`, 2],
    [`${person} (?:gave|handed|lent|sent) ${person} .* so ${pronoun} thanked`, 2],
    [`${person} (?:got|borrowed|received) .* from ${person}.* no longer needed`, 2],
    [`given to ${person}.* by ${person}.* so ${pronoun} thanked`, 1],
  ].map(([text, group]) => [new RegExp(text as string), group as 1 | 2]);

  test("of people fit the people's roles in the sentence", () => {
    const met = rules.map(() => 0);
    for (const sentence of draws(task, 12_000, 8)) {
      const text = task.write?.(sentence.source) ?? "";
      for (const [i, [rule, group]] of rules.entries()) {
        const found = rule.exec(text);
        if (found === null) continue;
        const first = answersOf(sentence)[0];
        expect([text, first?.label]).toEqual([text, found[group]]);
        met[i] = (met[i] ?? 0) + 1;
      }
    }
    for (const [i, count] of met.entries())
      expect([rules[i]?.[0], count > 3]).toEqual([rules[i]?.[0], true]);
  });

  test("are read in text that a person types", () => {
    const question = task.read?.("alice wrote A note and gave it to BOB") as Tagging;
    expect(question.source.join(" ")).toBe("Alice wrote a note and gave it to Bob .");
    expect(question.labels[6]).toBe("?");
    expect(question.content).toEqual([0, 3, 8]);
    expect(task.write?.(question.source)).toBe("Alice wrote a note and gave it to Bob.");
    expect(refusal(() => task.read?.("Alice wrote a thesis")).message).toBe(
      'text: word 3: expected a word of the grammar, got "thesis"',
    );
  });
});

describe("series", () => {
  test("follow from the values at whole periods, not from a line across the gap", () => {
    const errors = { periods: 0, line: 0, count: 0 };
    for (const { values, isHidden, alignment } of draws(tasks.series(), 500)) {
      expect(values.every((value) => Number.isInteger(value * 1024))).toBe(true);
      const [first, last] = [isHidden.indexOf(true), isHidden.lastIndexOf(true)];
      expect(isHidden.filter((hidden) => hidden)).toHaveLength(last - first + 1);
      expect(first).toBeGreaterThan(0);
      expect(last).toBeLessThan(values.length - 1);
      for (const [t, places] of alignment.entries()) {
        expect(places.length > 0).toBe(isHidden[t]);
        if (!isHidden[t]) continue;
        const at = (place: number) => values[place] as number;
        const [left, right] = [at(first - 1), at(last + 1)];
        const line = left + ((right - left) * (t - first + 1)) / (last - first + 2);
        const nearest = [...places].sort((a, b) => Math.abs(a - t) - Math.abs(b - t))[0] as number;
        expect(isHidden[nearest]).toBe(false);
        errors.periods += (at(nearest) - at(t)) ** 2;
        errors.line += (line - at(t)) ** 2;
        errors.count++;
      }
    }
    const [periods, line] = [errors.periods, errors.line].map((sum) =>
      Math.sqrt(sum / errors.count),
    );
    expect(periods).toBeLessThan(0.15);
    expect(line).toBeGreaterThan(0.5);
  });

  test("have a period of their own, and aligned values are whole periods away", () => {
    const periods = new Set<number>();
    for (const { values, alignment } of draws(tasks.series({ noise: 0, trend: 0 }), 300)) {
      periods.add(periodOf(values));
      for (const [t, places] of alignment.entries())
        expect(places.filter((place) => values[place] !== values[t])).toEqual([]);
    }
    expect([...periods].sort((a, b) => a - b)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  });
});

describe("shapes", () => {
  /** Guesses a shape from the moments of the covered pixels: how elongated it is, and how compact. */
  function guess({ covered, width }: Picture): string {
    const places = covered.flatMap((is, at) => (is ? [[at % width, Math.floor(at / width)]] : []));
    const sum = (of: (x: number, y: number) => number) =>
      places.reduce((total, [x, y]) => total + of(x as number, y as number), 0);
    const n = places.length;
    const [x, y] = [sum((px) => px) / n, sum((_, py) => py) / n];
    if (!covered[Math.round(y) * width + Math.round(x)]) return "ring";
    const [xx, yy] = [sum((px) => (px - x) ** 2), sum((_, py) => (py - y) ** 2)];
    const xy = sum((px, py) => (px - x) * (py - y));
    if (Math.hypot(xx - yy, 2 * xy) > 0.5 * (xx + yy)) return "bar";
    // 1 for a disc; 1 / 6 corrects for the extent of a pixel.
    const compact = n / (2 * Math.PI * ((xx + yy) / n + 1 / 6));
    if (compact > 0.975) return "disc";
    if (compact > 0.905) return "square";
    return compact > 0.795 ? "triangle" : "cross";
  }

  test("have the shape of their label", () => {
    const pictures = draws(tasks.shapes(), 400);
    const right = pictures.filter((picture) => guess(picture) === picture.label);
    expect(right.length / pictures.length).toBeGreaterThan(0.95);
    expect(new Set(pictures.map(({ label }) => label)).size).toBe(6);
  });

  test("are visible: covered pixels are brighter", () => {
    for (const { pixels, covered, width, height } of draws(tasks.shapes(), 100)) {
      expect([width, height, pixels.length]).toEqual([24, 24, 576]);
      const mean = (is: boolean) => {
        const some = pixels.filter((_, at) => covered[at] === is);
        return some.reduce((sum, pixel) => sum + pixel, 0) / some.length;
      };
      expect(mean(true) - mean(false)).toBeGreaterThan(0.15);
      const isShade = (pixel: number) =>
        pixel >= 0 && pixel <= 1 && pixel === Math.fround(Math.round(pixel * 255) / 255);
      expect(pixels.every(isShade)).toBe(true);
    }
  });
});

describe("bad options", () => {
  const refused: [name: string, options: Record<string, unknown>, message: string][] = [
    [
      "translate",
      {},
      'task: expected one of brackets, copy, dates, pronouns, reverse, series, shapes, sort, got "translate"',
    ],
    [
      "toString",
      {},
      'task: expected one of brackets, copy, dates, pronouns, reverse, series, shapes, sort, got "toString"',
    ],
    ["copy", { letters: 0 }, "letters: expected a whole number from 1 to 26, got 0"],
    [
      "copy",
      { letter: 3 },
      "letter: expected an option of copy (letters, minLength, maxLength), got an unknown one",
    ],
    ["sort", { minLength: 0 }, "minLength: expected a whole number from 1 to 1024, got 0"],
    ["sort", { minLength: 17 }, "minLength: expected maxLength, 16, or less, got 17"],
    [
      "reverse",
      { maxLength: 1e9 },
      "maxLength: expected a whole number from 1 to 1024, got 1000000000",
    ],
    ["reverse", { maxLength: "16" }, 'maxLength: expected a whole number from 1 to 1024, got "16"'],
    ["dates", { forms: "longer" }, 'forms: expected "all" or "short" or "long", got "longer"'],
    ["dates", { merges: 0 }, "merges: expected a whole number from 1 to 1000, got 0"],
    ["pronouns", { names: 3 }, "names: expected an option of pronouns (), got an unknown one"],
    ["brackets", { maxLength: 7 }, "maxLength: expected an even number from 2 to 1024, got 7"],
    ["series", { minGap: 13 }, "minGap: expected maxGap, 12, or less, got 13"],
    ["series", { minPeriod: 20 }, "minPeriod: expected maxPeriod, 16, or less, got 20"],
    ["series", { noise: Number.NaN }, "noise: expected a number from 0 to 1, got NaN"],
    [
      "series",
      { length: 30 },
      "length: expected room for the whole periods that cover a gap, before it or after it, got 30, with periods of up to 16 and gaps of up to 12",
    ],
    ["shapes", { size: 30 }, "size: expected a multiple of 4 from 12 to 256, got 30"],
    ["shapes", { size: 8 }, "size: expected a multiple of 4 from 12 to 256, got 8"],
  ];

  test("are refused with the expected value", () => {
    for (const [name, options, expected] of refused) {
      const { code, message } = refusal(() => taskOf(name, options as Task["options"]));
      expect([code, message]).toEqual(["option", expected]);
    }
    const { message } = refusal(() => taskOf("copy", [] as never));
    expect(message).toBe("options: expected an object, got []");
  });

  test("are stored as given, with the defaults of the others", () => {
    expect(taskOf("reverse", { maxLength: 20 }).options).toEqual({
      ...{ letters: 26, minLength: 1, maxLength: 20 },
    });
    const options = { ...tasks.dates({ forms: "long" }).options };
    expect(taskOf("dates", options).options).toEqual(options);
    expect(tasks.copy({ letters: undefined as never }).options.letters).toBe(26);
  });

  test("and texts are refused with the position of what is unknown", () => {
    const messages = [
      () => tasks.copy({ letters: 3 }).read?.("abd"),
      () => tasks.dates().read?.("3 März 2021"),
      () => tasks.dates({ tokens: "subword" }).read?.("2021?"),
      () => tasks.brackets().read?.(" "),
      () => tasks.copy().read?.(3 as never),
      () => tasks.copy().generate(new nn.Generator(), "dev" as never),
    ].map((call) => refusal(call).message);
    expect(messages).toEqual([
      'text[2]: expected one of abc, got "d"',
      expect.stringMatching(/^text\[3\]: expected one of .*, got "ä"$/),
      expect.stringMatching(/^text\[4\]: expected one of .*, got "\?"$/),
      'text: expected a text that is not empty, got " "',
      "text: expected a text that is not empty, got 3",
      'split: expected "train" or "validation" or "test", got "dev"',
    ]);
  });
});
