// State dicts: tensors by name, which modules and optimisers save and load.

import { dtypes } from "../core/constants.js";
import { describe, type HeedErrorCode, refuse } from "../core/error.js";
import { isObject } from "../core/objects.js";
import { createTensor, type Tensor } from "../core/tensor.js";
import { isListOf } from "../core/validate.js";

/** Values to load: a tensor, or an entry from safetensors.read. */
export interface StateDictEntry {
  /** The type of the elements, as in Heed or in safetensors; float32 if it is not given. */
  readonly dtype?: string;
  /** The sizes, which must be the sizes of the parameter. */
  readonly shape: readonly number[];
  /** The elements; float16 and bfloat16 as their bits. */
  readonly data: ArrayLike<number> | ArrayLike<bigint>;
}

/** Parameters by name, as PyTorch names them. */
export type StateDict = Readonly<Record<string, StateDictEntry>>;

/** Options of `loadStateDict`. */
export interface LoadStateDictOptions {
  /** Whether missing and unknown names are errors; true by default. Wrong shapes always are. */
  strict?: boolean;
}

/** The names that `loadStateDict` did not match. */
export interface LoadedStateDict {
  /** Names of tensors that were not given. They keep their values. */
  missing: string[];
  /** Given names that no tensor has. */
  unexpected: string[];
}

const floating = ["float32", "float64", "float16", "bfloat16"];
/** The largest number of names that an error lists. It counts the others. */
const mostNames = 100;

/** Copies values into the tensors with the same names. One error lists every mismatch; nothing is copied then. */
export function loadTensors(
  owner: string,
  tensors: Readonly<Record<string, Tensor>>,
  given: StateDict,
  strict: boolean,
): LoadedStateDict {
  const shapes = Object.entries(tensors).map(([name, { shape }]) => [name, shape] as const);
  const found = checkTensors(owner, new Map(shapes), given, strict);
  for (const [name, tensor] of Object.entries(tensors))
    if (Object.hasOwn(given, name)) copy(tensor, given[name] as StateDictEntry);
  return found;
}

/**
 * Checks that a state dict matches tensors of these names and shapes.
 *
 * @throws HeedError "shape" if all mismatches are entries that do not fit, else "option"; it lists every
 *   mismatch
 */
export function checkTensors(
  owner: string,
  shapes: ReadonlyMap<string, readonly number[]>,
  given: StateDict,
  strict: boolean,
): LoadedStateDict {
  if (!isObject(given)) {
    throw refuse("option", "state dict", "an object", describe(given));
  }
  const names = [...shapes.keys()];
  const missing = names.filter((name) => !Object.hasOwn(given, name));
  const unexpected = Object.keys(given).filter((name) => !shapes.has(name));
  const unfit = names.flatMap((name) => {
    if (!Object.hasOwn(given, name)) return [];
    const problem = problemWith(shapes.get(name) as readonly number[], given[name]);
    return problem === undefined ? [] : [`${name} (${problem})`];
  });
  const faults = [
    ...(strict ? [tell("missing", missing), tell("unexpected", unexpected)] : []),
    tell("not fitting", unfit),
  ].filter((fault) => fault !== undefined);
  if (faults.length > 0) {
    const onlyUnfit = faults.length === 1 && unfit.length > 0;
    const code: HeedErrorCode = onlyUnfit ? "shape" : "option";
    throw refuse(code, "state dict", `the entries of ${owner}`, faults.join("; "));
  }
  return { missing, unexpected };
}

function tell(what: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const more = names.length > mostNames ? `, and ${names.length - mostNames} more` : "";
  return `${names.length} ${what}: ${names.slice(0, mostNames).join(", ")}${more}`;
}

function problemWith(expected: readonly number[], given: unknown): string | undefined {
  if (!isObject(given)) {
    return `expected { shape, data }, got ${describe(given)}`;
  }
  const { shape, data, dtype = "float32" } = given as Partial<StateDictEntry>;
  const hasShape =
    isListOf(shape, Number.isInteger) &&
    shape.length === expected.length &&
    shape.every((size, axis) => size === expected[axis]);
  if (!hasShape) {
    return `expected ${describe([...expected])}, got ${describe(shape)}`;
  }
  if (!floating.includes(dtype))
    return `expected floating numbers, got ${typeof dtype === "string" ? dtype : describe(dtype)}`;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array)
    return `expected floating numbers, got ${describe(data)}`;
  const isTyped = ArrayBuffer.isView(data) && !(data instanceof DataView);
  if (!isTyped && !isListOf(data, (entry) => typeof entry === "number"))
    return `expected a list of numbers, got ${describe(data)}`;
  const size = expected.reduce((product, each) => product * each, 1);
  const got = (data as ArrayLike<number>).length;
  return got === size ? undefined : `expected ${size} numbers, got ${got}`;
}

function copy(tensor: Tensor, { dtype, data }: StateDictEntry): void {
  if (dtype !== "float16" && dtype !== "bfloat16") {
    tensor.data.set(data as ArrayLike<number>);
    return;
  }
  const { engine } = tensor;
  const bits = Uint16Array.from(data as ArrayLike<number>);
  const halves = createTensor(engine, bits, tensor.shape, dtype);
  const wanted = dtypes.indexOf("float32");
  const floats = engine.run(engine.module.cast, [engine.handle("data", halves), wanted]).tensor();
  tensor.data.set(floats.data);
  floats.dispose();
  halves.dispose();
}
