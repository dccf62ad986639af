// Arguments that the random calls of calls.test.ts found: objects that only resemble the expected type, and objects
// that throw when they are read.

import { HeedError, type Tensor } from "heed";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";
import { any } from "../refusals/case.js";

describe("an argument", () => {
  const heed = engine({ threads: 1 });
  const secret = new RangeError("a getter that throws");
  const throwing = () => {
    throw secret;
  };
  const unreadable = new Proxy({}, { get: throwing, getPrototypeOf: throwing, ownKeys: throwing });
  const withGetter = (name: string, object: object = {}) =>
    Object.defineProperty(object, name, { get: throwing, enumerable: true });

  test.each<[what: string, wrap: (tensor: Tensor) => unknown]>([
    ["a proxy, such as the reactive object of a framework,", (tensor) => new Proxy(tensor, {})],
    ["an object that only inherits from a tensor", (tensor) => Object.create(tensor)],
    ["the prototype", (tensor) => Object.getPrototypeOf(tensor)],
  ])("that is %s is no tensor", (_, wrap) => {
    heed().scope(() => {
      const tensor = heed().ones([2]);
      const strange = any<Tensor>(wrap(tensor));
      for (const call of [
        () => heed().softmax(strange),
        () => heed().add(tensor, strange),
        () => heed().linear(heed().ones([2, 2]), strange),
      ])
        expect(refusal(call).message).toMatch(
          /: expected a tensor.*, got a proxy or heir of (Tensor|Owned)$/,
        );
      expect(heed().softmax(tensor).toArray()).toEqual([0.5, 0.5]);
    });
  });

  test("`this` of a method that was taken off its engine is refused, with how to call it", () => {
    const x = heed().ones([2]);
    const { add, scope } = heed();
    const calls: [call: () => unknown, got: string][] = [
      [() => add(x, x), "undefined"],
      [() => scope(() => x), "undefined"],
      [() => [x].map(heed().softmax), "undefined"],
      [() => add.call(any(3), x, x), "3"],
      [() => new Proxy(heed(), {}).add(x, x), "a proxy or heir of Heed"],
      [() => Object.create(heed()).add(x, x), "a proxy or heir of Heed"],
    ];
    for (const [call, got] of calls) {
      const { code, message } = refusal(call);
      expect(code).toBe("option");
      const how = "call a method on its object, as in heed.add(a, b)";
      expect(message).toBe(`this: expected a Heed, got ${got}: ${how}`);
    }
    x.dispose();
  });

  test("that cannot be read is refused by its name", () => {
    class Odd {
      #name = "Odd";
      get [Symbol.toStringTag]() {
        return this.#name;
      }
    }
    class Odder extends Odd {}
    heed().scope(() => {
      const x = heed().ones([1, 1, 2, 2]);
      const got = "an object that cannot be read";
      const refused: [call: () => unknown, message: string][] = [
        [() => heed().softmax(any(unreadable)), `x: expected a tensor, got ${got}`],
        [() => heed().softmax(any(new Odder())), "x: expected a tensor, got an Odder"],
        [() => heed().sum(x, any(unreadable)), `options: expected an object, got ${got}`],
        [
          () => heed().sum(x, any(withGetter("axis"))),
          `axis: expected a whole number from -8 to 7, got ${got}`,
        ],
        [
          () => heed().zeros(any(withGetter("0", [1]))),
          `shape: expected a list of whole numbers of 0 or more, got ${got}`,
        ],
        [
          () => heed().tensor(any(withGetter("0", [1]))),
          "data: expected lists whose entries can be read, got an exception",
        ],
        [
          () => heed().concat(any(withGetter("1", [x, x]))),
          `parts: expected one tensor or more, got ${got}`,
        ],
        [
          () => heed().transpose(heed().ones([2, 2]), any(withGetter("1", [0, 1]))),
          `order: expected each axis of [2, 2] once, got ${got}`,
        ],
        [
          () => heed().mergeAttention(any(withGetter("lse", { output: x })), any({})),
          "a: expected { output, lse }, got an Object",
        ],
        [
          () => heed().attention(x, x, x, { past: any(withGetter("value", { key: x })) }),
          "past: expected { key, value } or a cache, got an Object",
        ],
        [
          () => heed().attention(x, x, x, { sinks: any(withGetter("0", [1])) }),
          `sinks: expected numbers, got ${got}`,
        ],
      ];
      for (const [call, message] of refused) expect(refusal(call).message).toBe(message);
    });
  });

  test("with options that it inherits has them checked", () => {
    heed().scope(() => {
      const x = heed().ones([1, 1, 2, 2]);
      const attend = (options: unknown) => heed().attention(x, x, x, any<object>(options));
      expect(refusal(() => attend(Object.create({ isCausal: "yes" }))).message).toBe(
        'isCausal: expected true or false, got "yes"',
      );
      expect(refusal(() => attend(heed())).message).toBe(
        "dropout: expected a finite float32 number, got a function",
      );
      class Options {
        get isCausal() {
          return true;
        }
      }
      const { output } = attend(new Options());
      expect([...output.data]).toEqual([1, 1, 1, 1]);
    });
  });

  test("of numbers is no object of options", () => {
    heed().scope(() => {
      const refused = () => heed().average(heed().ones([1, 2, 2]), any(new Float32Array(2)));
      expect(refusal(refused).message).toBe("options: expected an object, got a Float32Array");
    });
  });

  test("of two billion holes is no reason to wait", () => {
    const holes = new Array(2 ** 31);
    expect(heed().keep(holes)).toBe(holes);
    const refused = () => heed().concat(any(holes));
    expect(refusal(refused).message).toBe("parts: expected at most 4094 tensors, got 2147483648");
  });

  test("that a scope returns and that cannot be read frees what was made", () => {
    const result = heed().scope(() => {
      heed().ones([3]);
      return withGetter("tensor", [heed().ones([2])]);
    });
    expect(result).toHaveLength(1);
    expect(heed().memory().tensors.count).toBe(1);
    (result as unknown as Tensor[])[0]?.dispose();
    expect(() => heed().scope(throwing)).toThrow(secret);
    expect(heed().memory().tensors.count).toBe(0);
    expect(secret).not.toBeInstanceOf(HeedError);
  });
});
