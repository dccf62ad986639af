// Runs programs in tests; for Node only.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Finished {
  /** The exit status; null if the program exceeded its time limit and was stopped. */
  status: number | null;
  output: string;
  errors: string;
}

export interface RunOptions {
  cwd?: string;
  /** Changes of the environment; undefined removes a variable. */
  env?: Record<string, string | undefined>;
  /** The time limit in milliseconds. */
  limit?: number;
  /** Sends a signal as soon as the standard output contains this. */
  stop?: { at: RegExp; signal: NodeJS.Signals };
}

export function run(
  program: string,
  parameters: string[],
  options: RunOptions = {},
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: options.limit ?? 60_000,
      killSignal: "SIGKILL",
    });
    let [output, errors] = ["", ""];
    let { stop } = options;
    child.stdout.on("data", (text) => {
      output += text;
      if (!stop?.at.test(output)) return;
      child.kill(stop.signal);
      stop = undefined;
    });
    child.stderr.on("data", (text) => {
      errors += text;
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output, errors }));
  });
}

/** Runs a program that must succeed, and returns its standard output. */
export async function succeed(
  program: string,
  parameters: string[],
  options?: RunOptions,
): Promise<string> {
  const { status, output, errors } = await run(program, parameters, options);
  if (status !== 0) {
    throw new Error(`${program} ${parameters.join(" ")} ended with ${status}:\n${output}${errors}`);
  }
  return output;
}

/** Runs source text as an ES module in a new Node process. */
export async function runModule(
  text: string,
  options: RunOptions & { flags?: string[] } = {},
): Promise<Finished> {
  const folder = mkdtempSync(join(tmpdir(), "heed-module-"));
  try {
    const file = join(folder, "program.mjs");
    writeFileSync(file, text);
    return await run(process.execPath, [...(options.flags ?? []), file], options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Compiles TypeScript files under strict rules, with the types of Node; it fails if one has an error. */
export async function compile(
  files: readonly string[],
  words: readonly string[],
  options?: RunOptions,
): Promise<void> {
  const packages = join(import.meta.dirname, "../../node_modules");
  const rules = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
  const target = ["--target", "ES2022", "--lib", "ES2022,ESNext.Disposable,DOM"];
  const types = ["--typeRoots", join(packages, "@types"), "--types", "node"];
  const compiler = join(packages, "typescript-7/bin/tsc");
  const all = [compiler, ...rules, ...target, ...types, ...words, ...files];
  await succeed(process.execPath, all, { limit: 240_000, ...options });
}
