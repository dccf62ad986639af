// Random calls with arguments that do not fit: one argument of a valid call is replaced by an unexpected value.

import * as fc from "fast-check";
import { type Heed, HeedError, type Tensor } from "heed";
import { sizeOf } from "../values.js";
import { pick, whole } from "./family.js";
import { cacheMethods, methodOf, methods } from "./methods.js";

const secret = "a getter that throws";
const throwing = () => {
  throw new RangeError(secret);
};

/** An object whose properties all throw when they are read. */
const unreadable = new Proxy(
  {},
  {
    ...{ get: throwing, has: throwing, ownKeys: throwing, getOwnPropertyDescriptor: throwing },
    getPrototypeOf: throwing,
  },
);

function detached(): Float32Array {
  const data = new Float32Array(3);
  structuredClone(data.buffer, { transfer: [data.buffer] });
  return data;
}

function ofItself(): unknown[] {
  const list: unknown[] = [];
  list.push(list);
  return list;
}

function disposed<T extends { dispose(): void }>(made: T): T {
  made.dispose();
  return made;
}

/** What strangers pass. Many of these fit somewhere. */
const strange: Readonly<Record<string, (heed: Heed, other: Heed) => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  "0": () => 0,
  "-0": () => -0,
  "1": () => 1,
  "2": () => 2,
  "-1": () => -1,
  "-2": () => -2,
  "0.5": () => 0.5,
  "1.5": () => 1.5,
  "1e300": () => 1e300,
  "1e-300": () => 1e-300,
  "1e39": () => 1e39,
  "2 ** 31": () => 2 ** 31,
  "2 ** 32 + 1": () => 2 ** 32 + 1,
  "2 ** 40": () => 2 ** 40,
  "2 ** 53": () => 2 ** 53,
  "-(2 ** 63)": () => -(2 ** 63),
  NaN: () => Number.NaN,
  Infinity: () => Infinity,
  "-Infinity": () => -Infinity,
  '""': () => "",
  '"1"': () => "1",
  '"float32"': () => "float32",
  '"constructor"': () => "constructor",
  "10n": () => 10n,
  "a symbol": () => Symbol("s"),
  "a function": () => () => 1,
  "a function that throws": () => throwing,
  "an async function": () => async () => 1,
  "{}": () => ({}),
  "an object without prototype": () => Object.create(null),
  "an object with __proto__": () => JSON.parse('{"__proto__": {"axis": 0}, "constructor": 1}'),
  "an object with a getter that throws": () =>
    Object.defineProperty({}, "axis", { get: throwing, enumerable: true }),
  "an unreadable object": () => unreadable,
  "an object with a length": () => ({ length: 3, 0: 1 }),
  "a value that throws as a text": () => ({
    toString: throwing,
    valueOf: throwing,
    [Symbol.toPrimitive]: throwing,
  }),
  "a date": () => new Date(0),
  "a map": () => new Map([["axis", 0]]),
  "a promise": () => Promise.resolve(1),
  "a boxed number": () => Object(2),
  "a class": () => class {},
  "[]": () => [],
  "[1]": () => [1],
  "[0, 1]": () => [0, 1],
  "[-1, 2]": () => [-1, 2],
  "[NaN]": () => [Number.NaN],
  "[0.5]": () => [0.5],
  '["1"]': () => ["1"],
  "[undefined]": () => [undefined],
  "[[1], [2, 3]]": () => [[1], [2, 3]],
  holes: () => new Array(3),
  "two billion holes": () => new Array(2 ** 31),
  "a list of itself": ofItself,
  "a list with a getter that throws": () => Object.defineProperty([1, 2], 1, { get: throwing }),
  "[2 ** 20, 2 ** 20]": () => [2 ** 20, 2 ** 20],
  "[2 ** 16, 2 ** 16, 2 ** 16, 2 ** 16]": () => new Array(4).fill(2 ** 16),
  "[0, 2 ** 40]": () => [0, 2 ** 40],
  "[2 ** 53, 2 ** 53]": () => [2 ** 53, 2 ** 53],
  "nine axes": () => new Array(9).fill(1),
  "5000 numbers": () => new Array(5000).fill(0),
  floats: () => Float32Array.of(1, 2, 3),
  "floats of a detached buffer": detached,
  bytes: () => Uint8Array.of(1, 2, 3),
  doubles: () => Float64Array.of(1, 2, 3),
  "a view": () => new DataView(new ArrayBuffer(8)),
  "big numbers": () => BigInt64Array.of(1n),
  "a scalar tensor": (h) => h.tensor(1),
  "a tensor of nothing": (h) => h.zeros([0]),
  "a tensor [0, 3]": (h) => h.zeros([0, 3]),
  "a tensor [2, 3]": (h) => h.ones([2, 3]),
  "a tensor [7]": (h) => h.ones([7]),
  "a tensor of eight axes": (h) => h.ones([1, 1, 1, 1, 1, 1, 1, 2]),
  "a tensor with NaN": (h) => h.tensor([Number.NaN, Infinity, -Infinity]),
  "an int32 tensor": (h) => h.tensor(Int32Array.of(-1, 2 ** 31 - 1)),
  "a bool tensor": (h) => h.tensor([true, false]),
  "a float16 tensor": (h) => h.cast(h.ones([2, 3]), "float16"),
  "a bfloat16 tensor": (h) => h.cast(h.ones([2, 3]), "bfloat16"),
  "a disposed tensor": (h) => disposed(h.ones([2, 3])),
  "a tensor of another engine": (_, other) => other.ones([2, 3]),
  "an object like a tensor": () => ({
    shape: [2, 3],
    dtype: "float32",
    data: new Float32Array(6),
    engine: {},
  }),
  "a tensor's prototype": (h) => Object.getPrototypeOf(h.ones([1])),
  "an heir of a tensor": (h) => Object.create(h.ones([2, 3])),
  "a cache": (h) => h.createKvCache({ heads: 1, headSize: 2, capacity: 2 }),
  "a disposed cache": (h) => disposed(h.createKvCache({ heads: 1, headSize: 2, capacity: 2 })),
  "a cache of another engine": (_, other) =>
    other.createKvCache({ heads: 1, headSize: 2, capacity: 2 }),
  "a block mask": (h) => h.blockMask(() => true, { queries: 2, keys: 2 }),
  "packed weights": (h) => h.packWeights(h.ones([2, 3])),
  "disposed packed weights": (h) => disposed(h.packWeights(h.ones([2, 3]))),
  "the engine": (h) => h,
};

/** A call of a method with a replaced argument, or a member of one. */
export interface Strange {
  /** Of an engine, or of a cache. */
  readonly of: "heed" | "cache";
  readonly method: string;
  /** The index of the argument, up to one more than the call has. */
  readonly argument: number;
  /** Which member of it, if it is a list or an object; the argument itself if not given. */
  readonly member: number | undefined;
  readonly value: string;
  /** Whether the member is a getter that throws. */
  readonly throws: boolean;
}

const value = pick(...Object.keys(strange));
const calls = fc.oneof(
  { weight: 9, arbitrary: fc.record({ of: pick("heed"), method: pick(...Object.keys(methods)) }) },
  {
    weight: 1,
    arbitrary: fc.record({ of: pick("cache"), method: pick(...Object.keys(cacheMethods)) }),
  },
);

export const strangeCall: fc.Arbitrary<Strange> = fc
  .record({
    call: calls,
    argument: whole(0, 5),
    member: fc.option(whole(0, 20), { nil: undefined, freq: 3 }),
    value,
    throws: fc.boolean(),
  })
  .map(({ call, ...rest }) => ({ ...(call as Pick<Strange, "of" | "method">), ...rest }));

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);

function replaced(call: Strange, args: readonly unknown[], value: unknown): unknown[] {
  const all = [...args];
  const place = call.argument % (args.length + 1);
  const whole = all[place];
  const member = call.member;
  if (member === undefined || !isPlain(whole)) {
    all[place] = value;
    return all;
  }
  const names = [...Object.keys(whole), Array.isArray(whole) ? "7" : "unknown"];
  const name = names[member % names.length] as string;
  const copy = (Array.isArray(whole) ? [...whole] : { ...whole }) as object;
  Object.defineProperty(copy, name, {
    ...(call.throws && call.value === "an unreadable object"
      ? { get: throwing }
      : { value, writable: true }),
    ...{ enumerable: true, configurable: true },
  });
  all[place] = copy;
  return all;
}

/** The form of a message: the argument or option, the expected value and the given value. */
const form = /^\w[\w.]*(\[\d+\])?(\.\w+)?: expected .+, got .+/s;

/**
 * Makes the call. Throws unless it succeeds or is refused with a HeedError that names the argument.
 *
 * @param other another engine
 * @returns whether it was refused
 */
export function callStrangely(heed: Heed, other: Heed, call: Strange): boolean {
  const t = (...shape: number[]): Tensor =>
    heed.tensor(new Float32Array(sizeOf(shape)).fill(1), shape);
  return other.scope(() =>
    heed.scope(() => {
      const value = (strange[call.value] as (typeof strange)[string])(heed, other);
      const [target, table] =
        call.of === "heed" ? [heed, methods] : [filledCache(heed, t), cacheMethods];
      const args = replaced(call, (table[call.method] as (typeof table)[string])(heed, t), value);
      const name = methodOf(call.method);
      const before = heed.memory();
      try {
        (Reflect.get(target, name) as (...all: unknown[]) => unknown).apply(target, args);
        // A tensor that was kept no longer belongs to a scope.
        const Owned = Object.getPrototypeOf(t(1).constructor);
        if (call.method === "keep" && args[0] instanceof Owned) (args[0] as Tensor).dispose();
        return false;
      } catch (error) {
        // The errors of the function that a scope runs are the caller's own.
        if (name === "scope" && /class|function/.test(call.value)) return false;
        if (!(error instanceof HeedError)) throw error;
        if (error.code === "internal" || !form.test(error.message))
          throw new Error(`an error that names no argument: ${error.code}, ${error.message}`);
        const after = heed.memory();
        for (const kind of ["tensors", "caches", "packedWeights", "blockMasks"] as const)
          if (after[kind].count !== before[kind].count)
            throw new Error(`a refused call leaves ${kind} behind: ${error.message}`);
        return true;
      }
    }),
  );
}

/** A cache of two sequences with a token each. */
function filledCache(heed: Heed, t: (...shape: number[]) => Tensor) {
  const cache = heed.createKvCache({ batch: 2, heads: 1, headSize: 3, capacity: 9 });
  cache.append(t(2, 1, 2, 3), t(2, 1, 2, 3));
  return cache;
}
