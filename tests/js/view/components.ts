// The elements of heed/view in a DOM of component tests, which has no layout and no canvas.

import { defineElements, type HeedMatrix, type HeedSteps } from "heed/view";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

const weights = [
  [1, 0, 0],
  [0.75, 0.25, 0],
  [0.125, 0.625, 0.25],
];
const tokens = ["the", "cat", "sat"];
const ofMatrix = { data: weights, tokens, mask: "causal" };
const q = [
  [1, 0],
  [0, 2],
  [1, 1],
];

/** For each element: its properties, the part that gets the keys, the keys, the spoken text after them, the last event. */
const elements = {
  "heed-matrix": {
    properties: ofMatrix,
    place: "canvas",
    keys: ["ArrowDown", "ArrowDown", "ArrowRight"],
    heard: "query 3 “sat”, key 2 “cat”: weight 0.625; the largest of its row is 0.625",
    told: ["heed-hover", { row: 2, col: 1, value: 0.625 }],
  },
  "heed-lines": {
    properties: ofMatrix,
    place: "[part=lines]",
    keys: ["ArrowDown", "ArrowDown"],
    heard: "query 2 “cat” attends most to “the” 0.750, “cat” 0.250",
    told: ["heed-hover", { row: 1, col: 0, value: 0.75 }],
  },
  "heed-tokens": {
    properties: ofMatrix,
    place: "[part=keys]",
    keys: ["ArrowLeft", "Enter"],
    heard: "query 2 “cat” attends most to “the” 0.750, “cat” 0.250",
    told: ["heed-lock", { row: 1, col: 0, value: 0.75 }],
  },
  "heed-heads": {
    // With 70 heads, a browser draws only the heads on the screen.
    properties: { ...ofMatrix, data: Array.from({ length: 70 }, () => weights) },
    place: "[data-index='0'] button",
    keys: ["ArrowRight", "click"],
    heard: "",
    told: ["heed-select", { layer: 0, head: 1 }],
  },
  "heed-steps": {
    properties: { q, k: q, v: q, tokens, mask: "causal" },
    place: "[part=stages]",
    keys: ["ArrowRight"],
    heard:
      "Scores, the first number. Scores, “sat” attends to “the”: QKᵀ[3, 1] = 1.000 × 1.000, so far 1.000",
    told: ["heed-step", { step: 1, steps: 29, stage: "scores" }],
  },
} as const;

type Tag = keyof typeof elements;
const tags = Object.keys(elements) as Tag[];

async function shown(tag: Tag, properties: object = elements[tag].properties) {
  const element = document.createElement(tag) as HeedMatrix;
  Object.assign(element, properties);
  document.body.replaceChildren(element);
  await element.updateComplete;
  return { element, root: element.shadowRoot as ShadowRoot };
}

/** For each attribute: texts, and the value that the property of the same name then has. */
const ofAll: Record<string, readonly (readonly [text: string, value: unknown])[]> = {
  data: [
    [
      "[[1, 0], [0.25, 0.75]]",
      [
        [1, 0],
        [0.25, 0.75],
      ],
    ],
  ],
  shape: [
    ["2 2", [2, 2]],
    ["2,2", [2, 2]],
    ["[2, 2]", [2, 2]],
  ],
  mask: [
    ["causal", "causal"],
    [
      "[[1, 0], [1, 1]]",
      [
        [1, 0],
        [1, 1],
      ],
    ],
  ],
  tokens: [
    ["I  see", ["I", "see"]],
    ['["I", " see"]', ["I", " see"]],
    ["[CLS] I", ["[CLS]", "I"]],
  ],
  queries: [["I see", ["I", "see"]]],
  keys: [["I see", ["I", "see"]]],
  roles: [["subject verb", ["subject", "verb"]]],
  theme: [["dark", "dark"]],
  range: [["row", "row"]],
  curve: [["sqrt", "sqrt"]],
  controls: [["none", "none"]],
  locale: [["de-CH", "de-CH"]],
  label: [["Head 4", "Head 4"]],
};
const layerAndHead = { layer: [["1", 1]], head: [["1", 1]] } as const;
const attributes: Record<Tag, typeof ofAll> = {
  "heed-matrix": {
    ...ofAll,
    ...layerAndHead,
    kind: [["scores", "scores"]],
    scores: [
      [
        "[[1, 2], [3, 4]]",
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ],
    locked: [
      ["1 0", { row: 1, col: 0 }],
      ["1, 0", { row: 1, col: 0 }],
    ],
    row: [
      ["1", 1],
      ["0", 0],
    ],
  },
  "heed-lines": {
    ...ofAll,
    ...layerAndHead,
    mass: [
      ["0.5", 0.5],
      ["1", 1],
    ],
    locked: [["1 0", { row: 1, col: 0 }]],
    row: [["1", 1]],
  },
  "heed-tokens": { ...ofAll, ...layerAndHead, direction: [["to", "to"]], row: [["1", 1]] },
  "heed-heads": {
    ...ofAll,
    ...layerAndHead,
    order: [["entropy", "entropy"]],
    view: [["lines", "lines"]],
    mass: [["0.5", 0.5]],
  },
  "heed-steps": {
    ...ofAll,
    q: [["[[1, 0]]", [[1, 0]]]],
    k: [["[[1, 0]]", [[1, 0]]]],
    v: [["[[1, 0]]", [[1, 0]]]],
    head: [["1", 1]],
    row: [["1", 1]],
    scale: [
      ["0.5", 0.5],
      ["-2e-1", -0.2],
    ],
    playing: [
      ["", true],
      ["true", true],
      ["false", false],
    ],
    time: [["1.5", 1.5]],
    speed: [["2", 2]],
    step: [
      ["3", 3],
      ["0", 0],
    ],
  },
};

/** Texts that fit no property of their kind. */
const unfit: Record<string, readonly string[]> = {
  ...Object.fromEntries(["data", "scores", "q", "k", "v"].map((name) => [name, ["", "[[1,", "x"]])),
  ...Object.fromEntries(
    ["layer", "head", "row", "step"].map((name) => [name, ["", "-1", "1.5", "x"]]),
  ),
  ...{ scale: ["", "x"], time: ["", "-1"], speed: ["0", " "], mass: ["", "2"], locked: ["", "1"] },
  ...{ mask: ["", "x"], theme: ["", "red"], range: ["x"], curve: ["x"] },
  ...{ locale: ["x y"], kind: ["x"], direction: ["x"], order: ["x"], view: ["x"], controls: ["x"] },
};

export function testComponents(): void {
  const complaints: unknown[] = [];
  beforeEach(() => {
    defineElements();
    for (const name of ["error", "warn"] as const)
      vi.spyOn(console, name).mockImplementation((...words) => complaints.push(words.join(" ")));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    document.body.replaceChildren();
    expect(complaints.splice(0)).toEqual([]);
  });

  describe.each(tags)("<%s>", (tag) => {
    const { properties, place, keys, heard, told } = elements[tag];

    test("shows numbers, and is read and told of by keyboard", async () => {
      const { element, root } = await shown(tag);
      expect(element.error).toBe(null);
      const events: unknown[] = [];
      for (const name of ["heed-hover", "heed-select", "heed-step", "heed-lock"] as const)
        element.addEventListener(name, ({ detail }) => events.push([name, detail]));
      const start = root.querySelector<HTMLElement>(place);
      start?.focus();
      for (const key of keys) {
        const target = (root.activeElement ?? start) as HTMLElement;
        const pressed = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
        if (key === "click") target.click();
        else target.dispatchEvent(pressed);
      }
      await element.updateComplete;
      expect(events.at(-1)).toEqual(told);
      const aloud = Array.from(root.querySelectorAll("[aria-live]"), (each) => each.textContent);
      expect(aloud.join("").replace(/\s/g, " ")).toBe(heard);
    });

    test("goes on where it is put again, with what was set meanwhile", async () => {
      const { element, root } = await shown(tag);
      element.remove();
      Object.assign(element, { label: "Head 4" });
      document.body.append(element);
      await element.updateComplete;
      expect(element.error).toBe(null);
      expect(root.innerHTML).toContain("Head 4");
      element.remove();
      await Object.assign(element, { label: "Head 5" }).updateComplete;
      expect(root.innerHTML).not.toContain("Head 5");
    });

    test("gives its numbers as files, and says that there are no pictures", async () => {
      const { element } = await shown(tag);
      expect(element.csv()).toContain("\r\n");
      expect(element.npy().length).toBeGreaterThan(64);
      await expect(element.png()).rejects.toMatchObject({ name: "HeedError", code: "unsupported" });
    });

    test("shows why input does not fit, and recovers", async () => {
      const { element, root } = await shown(tag);
      const events: unknown[] = [];
      element.addEventListener("heed-error", ({ detail }) => events.push(detail.message));
      element.tokens = ["one"];
      await element.updateComplete;
      const message = root.querySelector("[role=alert]")?.textContent;
      expect(message).toMatch(/^tokens: expected 3 /);
      expect(events).toEqual([message]);
      Object.assign(element, properties);
      await element.updateComplete;
      expect(element.error).toBe(null);
    });

    test("takes an empty text for null, which Preact gives", async () => {
      const { element } = await shown(tag);
      const names = Object.keys(attributes[tag]);
      const valuesOf = (of: object) => names.map((name) => Reflect.get(of, name));
      for (const name of names) Object.assign(element, { [name]: "" });
      await element.updateComplete;
      expect(element.error).toBe(null);
      expect(valuesOf(element)).toEqual(valuesOf(document.createElement(tag)));
    });

    test("has a property of the same value for each attribute", async () => {
      const { observedAttributes } = customElements.get(tag) as unknown as {
        observedAttributes: readonly string[];
      };
      const table = attributes[tag];
      expect(Object.keys(table).sort()).toEqual([...observedAttributes].sort());
      const { element } = await shown(tag, {});
      for (const [name, cases] of Object.entries(table)) {
        const read = () => element[name as "label"];
        const initial = read();
        for (const [text, value] of cases) {
          element.setAttribute(name, text);
          expect([name, text, read()]).toEqual([name, text, value]);
          await element.updateComplete;
          expect([name, text, read()]).toEqual([name, text, value]);
          element.removeAttribute(name);
          expect([name, read()]).toEqual([name, initial]);
        }
      }
    });

    test("refuses an attribute's text that does not fit", async () => {
      const { element } = await shown(tag, {});
      for (const name of Object.keys(attributes[tag]))
        for (const text of unfit[name] ?? []) {
          element.setAttribute(name, text);
          await element.updateComplete;
          expect([name, text, element.error?.message]).toEqual([
            ...[name, text],
            expect.stringMatching(new RegExp(`^${name}\\b.*: expected `)),
          ]);
          element.removeAttribute(name);
        }
    });
  });

  test("<heed-heads> shows a head in detail after its mask is gone", async () => {
    let isGone = false;
    const mask = {
      shape: [3, 3],
      get data() {
        if (isGone) throw new Error("disposed");
        return [1, 0, 0, 1, 1, 0, 1, 0, 1];
      },
    };
    const properties = { ...elements["heed-heads"].properties, mask };
    const { element, root } = await shown("heed-heads", properties);
    isGone = true;
    for (const [view, tag] of [
      ["lines", "heed-lines"],
      ["matrix", "heed-matrix"],
    ] as const) {
      await Object.assign(element, { view }).updateComplete;
      const detail = root.querySelector(tag) as HeedMatrix;
      await detail.updateComplete;
      expect(detail.error).toBe(null);
      expect(detail.csv()).toBe(element.csv());
    }
  });

  test("<heed-tokens> forgets a token that other numbers do not have, and a choice of another side", async () => {
    const { element, root } = await shown("heed-tokens");
    const list = root.querySelector("[part=keys]") as HTMLElement;
    list.children[2]?.dispatchEvent(new MouseEvent("pointermove", { bubbles: true }));
    await element.updateComplete;
    expect(root.textContent).toContain("query 3 “sat” attends most to");
    const data = { data: [1, 0, 0.5, 0.5, 0.25, 0.75, 0.125, 0.875], shape: [2, 2, 2] };
    await Object.assign(element, { data, tokens: ["a", "b"] }).updateComplete;
    expect(root.textContent).not.toContain("attends most to");
    const queries = ["a", "b"];
    const wide = { data: [0.5, 0.25, 0.25, 1, 0, 0], shape: [2, 3] };
    const chosen = { direction: "to", row: 2 };
    Object.assign(element, { data: wide, tokens: null, queries, keys: tokens, ...chosen });
    await element.updateComplete;
    const select = root.querySelector("select") as HTMLSelectElement;
    select.value = "from";
    select.dispatchEvent(new Event("change"));
    await element.updateComplete;
    expect([element.error, element.row]).toEqual([null, null]);
  });

  test("<heed-lines> names its picture before it is drawn", () => {
    const element = document.createElement("heed-lines");
    document.body.replaceChildren(element);
    const svg = element.shadowRoot?.querySelector("svg[role=img]");
    expect(svg?.getAttribute("aria-label")).toBe("lines from queries to keys");
  });

  test("<heed-steps> shows the step of its attribute when it gets its numbers", async () => {
    document.body.innerHTML = '<heed-steps step="3" tokens="the cat sat"></heed-steps>';
    const element = document.body.firstElementChild as HeedSteps;
    await element.updateComplete;
    expect([element.step, element.time]).toEqual([3, 0]);
    await Object.assign(element, { q, k: q, v: q }).updateComplete;
    expect([element.step, element.error]).toEqual([3, null]);
    expect(element.time).toBeGreaterThan(0);
    expect(element.shadowRoot?.textContent).toContain("Step 4 of");
    element.setAttribute("step", "99");
    expect(element.step).toBe(element.steps - 1);
    element.step = 1;
    element.time = 0;
    await element.updateComplete;
    expect(element.step).toBe(0);
  });
}
