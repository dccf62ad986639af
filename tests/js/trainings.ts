// Runs ./dev train without its build step, in folders that are deleted after the tests.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll } from "vitest";
import { run } from "./child.js";

const checkpoints = join(import.meta.dirname, "../../build/train");
export const program = join(import.meta.dirname, "../../web/train.mjs");
export const folder = mkdtempSync(join(tmpdir(), "heed-train-"));
const names: string[] = [];

afterAll(() => {
  rmSync(folder, { recursive: true });
  for (const name of names) rmSync(join(checkpoints, name), { recursive: true, force: true });
});

/** A training with a unique name: its command, functions that run and stop it, and its files. */
export function training(words: readonly string[]) {
  const name = `${basename(folder)}-${names.length}`;
  names.push(name);
  const out = join(folder, name);
  const command = [program, ...words, "--name", name, "--out", out];
  return {
    command,
    checkpoint: join(checkpoints, name, "checkpoint.safetensors"),
    run: (...more: string[]) => run(process.execPath, [...command, ...more]),
    /** Stops the training when its output matches. */
    stop: (at: RegExp, signal: NodeJS.Signals) =>
      run(process.execPath, command, { stop: { at, signal } }),
    file: (file: string) => readFileSync(join(out, file)),
  };
}
