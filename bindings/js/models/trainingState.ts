// The file of a training that was stopped: a safetensors file with a checksum.

import { describe, refuse } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import { isRecord, within } from "../core/objects.js";
import { checkOptions, isNumber, isWholeNumber } from "../core/validate.js";
import { read, type SafetensorsEntry, type SafetensorsFile, write } from "../nn/safetensors.js";
import { hashOf } from "./hash.js";

export type Tensors = Readonly<Record<string, SafetensorsEntry>>;

/** The parameters with the best score so far. */
export interface Best {
  /** The number of steps done at that time. */
  step: number;
  /** The score that was given to `keepIfBest`. */
  score: number;
  /** The parameters, for `model.loadStateDict`. */
  parameters: Tensors;
}

/** The progress of a training. */
export interface TrainingProgress {
  step: number;
  learningRate: number;
  best?: Omit<Best, "parameters"> | undefined;
}

const format = "heed-training";
const formatVersion = "1";

export function prefixed<T>(
  prefix: string,
  values: Readonly<Record<string, T>>,
): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, x]) => [`${prefix}${name}`, x]));
}

/**
 * Separates tensors by a prefix into two groups: the tensors whose names do not begin with it, and
 * the tensors whose names do. The prefix is removed from the names of the second group.
 */
export function split(tensors: Tensors, prefix: string): [others: Tensors, those: Tensors] {
  const entries = Object.entries(tensors);
  const others = entries.filter(([name]) => !name.startsWith(prefix));
  const those = entries.filter(([name]) => name.startsWith(prefix));
  const short = those.map(([name, entry]) => [name.slice(prefix.length), entry]);
  return [Object.fromEntries(others), Object.fromEntries(short)];
}

const wrong = (what: string, expected: string, got: string) =>
  refuse("format", `state: ${what}`, expected, got);

/** A checksum, which detects changed elements; the safetensors format does not. */
function checksumOf(tensors: Tensors, metadata: Readonly<Record<string, string>>): string {
  return hashOf(write(tensors, metadata)).toString(16).padStart(8, "0");
}

/** Writes a state with its checksum. */
export function writeState(
  tensors: Tensors,
  training: object,
  progress: TrainingProgress,
  notes: string,
): Bytes {
  const metadata = {
    format,
    version: formatVersion,
    training: JSON.stringify(training),
    progress: JSON.stringify(progress),
    notes,
  };
  return write(tensors, { ...metadata, checksum: checksumOf(tensors, metadata) });
}

/** Reads a state, and checks its format and its checksum. */
export function readState(bytes: Uint8Array): SafetensorsFile {
  const { tensors, metadata } = read(bytes);
  const { checksum, ...said } = metadata;
  if (said.format !== format) throw wrong("format", describe(format), describe(said.format));
  if (said.version !== formatVersion)
    throw wrong("version", describe(formatVersion), describe(said.version));
  const computed = checksumOf(tensors, said);
  if (checksum !== computed) throw wrong("checksum", describe(computed), describe(checksum));
  return { tensors, metadata: said };
}

export function parsed(metadata: Readonly<Record<string, string>>, name: string): unknown {
  try {
    return JSON.parse(metadata[name] ?? "");
  } catch {
    throw wrong(name, "JSON", describe(metadata[name]));
  }
}

export function checkProgress(progress: unknown, steps: number): TrainingProgress {
  const checks = {
    step: isWholeNumber(0, steps),
    learningRate: isNumber,
    best: { expected: "{ step, score }", accepts: isBest },
  };
  within("state", () => checkOptions("a training's progress", progress, checks));
  const { step, learningRate } = progress as Record<string, unknown>;
  if (step === undefined || learningRate === undefined)
    throw wrong("progress", "step and learningRate", "no such");
  return progress as TrainingProgress;
}

function isBest(value: unknown): boolean {
  const { step, score } = (value ?? {}) as Partial<Best>;
  return Number.isInteger(step) && Number.isFinite(score);
}

/** Lists all values that differ, with both values: "recipe.batch is 16, not 32". */
export function differences(expected: unknown, got: unknown, path = ""): string[] {
  if (isRecord(expected) && isRecord(got)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(got)]);
    return [...names].flatMap((name) =>
      differences(expected[name], got[name], path === "" ? name : `${path}.${name}`),
    );
  }
  if (expected === got) return [];
  if (Array.isArray(expected) && Array.isArray(got)) {
    const isSame =
      expected.length === got.length &&
      expected.every((each, i) => differences(each, got[i]).length === 0);
    return isSame ? [] : [`${path} is another list`];
  }
  return [`${path} is ${describe(got)}, not ${describe(expected)}`];
}
