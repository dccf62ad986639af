// What modules and optimisers are saved as, and loaded from: tensors by name.

import { describe, HeedError, type HeedErrorCode } from "./error.js";
import { createTensor, type Tensor } from "./tensor.js";

/** Numbers to load: a tensor, or what safetensors.read gives. */
export interface StateDictEntry {
  readonly dtype?: string;
  readonly shape: readonly number[];
  readonly data: ArrayLike<number> | ArrayLike<bigint>;
}

export type StateDict = Readonly<Record<string, StateDictEntry>>;

export interface LoadStateDictOptions {
  /** Refuse names that are missing or not known: true by default. Shapes must fit in any case. */
  strict?: boolean;
}

export interface LoadedStateDict {
  /** Names of tensors that were not given, and so kept what they had. */
  missing: string[];
  /** Names that were given and have no tensor. */
  unexpected: string[];
}

const floating = ["float32", "float64", "float16", "bfloat16"];
/** More names than this are counted, not listed. */
const mostNames = 100;

/** Copies numbers into tensors of the same names. Refuses all that does not fit in one error. */
export function loadTensors(
  owner: string,
  tensors: Readonly<Record<string, Tensor>>,
  given: StateDict,
  strict: boolean,
): LoadedStateDict {
  if (given === null || typeof given !== "object") {
    throw new HeedError("option", `state dict: expected an object, got ${describe(given)}`);
  }
  const names = Object.keys(tensors);
  const missing = names.filter((name) => !Object.hasOwn(given, name));
  const unexpected = Object.keys(given).filter((name) => !Object.hasOwn(tensors, name));
  const present = names.filter((name) => Object.hasOwn(given, name));
  const unfit = present.flatMap((name) => {
    const problem = problemWith(tensors[name] as Tensor, given[name]);
    return problem === undefined ? [] : [`${name} (${problem})`];
  });
  const faults = [
    ...(strict ? [tell("missing", missing), tell("unexpected", unexpected)] : []),
    tell("not fitting", unfit),
  ].filter((fault) => fault !== undefined);
  if (faults.length > 0) {
    const onlyUnfit = faults.length === 1 && unfit.length > 0;
    const code: HeedErrorCode = onlyUnfit ? "shape" : "option";
    throw new HeedError(code, `state dict: expected what ${owner} holds, got ${faults.join("; ")}`);
  }
  for (const name of present) copy(tensors[name] as Tensor, given[name] as StateDictEntry);
  return { missing, unexpected };
}

function tell(what: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const more = names.length > mostNames ? `, and ${names.length - mostNames} more` : "";
  return `${names.length} ${what}: ${names.slice(0, mostNames).join(", ")}${more}`;
}

function problemWith(tensor: Tensor, given: unknown): string | undefined {
  if (given === null || typeof given !== "object") {
    return `expected { shape, data }, got ${describe(given)}`;
  }
  const { shape, data, dtype = "float32" } = given as Partial<StateDictEntry>;
  const expected = tensor.shape;
  if (!Array.isArray(shape) || String(shape) !== String(expected)) {
    return `expected ${describe([...expected])}, got ${describe(shape)}`;
  }
  if (!floating.includes(dtype)) return `expected floating numbers, got ${dtype}`;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array)
    return `expected floating numbers, got ${describe(data)}`;
  const got = (data as ArrayLike<number> | undefined)?.length;
  return got === tensor.size ? undefined : `expected ${tensor.size} numbers, got ${got}`;
}

function copy(tensor: Tensor, { dtype, data }: StateDictEntry): void {
  if (dtype !== "float16" && dtype !== "bfloat16") {
    tensor.data.set(data as ArrayLike<number>);
    return;
  }
  const { engine } = tensor;
  const bits = Uint16Array.from(data as ArrayLike<number>);
  const halves = createTensor(engine, bits, tensor.shape, dtype);
  const wanted = engine.module.DType.float32.value;
  const floats = engine.run(engine.module.cast, [engine.handle("data", halves), wanted]).tensor();
  tensor.data.set(floats.data);
  floats.dispose();
  halves.dispose();
}
