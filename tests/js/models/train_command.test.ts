// ./dev train without its build step: the same command gives the same files, however often it is stopped,
// and error messages are clear.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../child.js";
import * as trainings from "../trainings.js";

const { folder, program } = trainings;
const sizes = "--size 8 --layers 1 --batch 16 --threads 1 --steps".split(" ");
/** A training of a task without generated texts, whose final report takes a quarter of the time. */
const training = (...changes: string[]) =>
  trainings.training(["pronouns", ...sizes, "20", ...changes]);

/** Starts a training and stops it when it reports its first check. */
async function interrupted({ stop }: ReturnType<typeof training>, signal: NodeJS.Signals) {
  const { status, output, errors } = await stop(/./, signal);
  return { status, output: output + errors };
}

const whole = trainings.training(["reverse", ...sizes, "60"]);

test("a training writes a model, its config and a report", async () => {
  const { status, output, errors } = await whole.run();
  expect({ status, errors }).toEqual({ status: 0, errors: "" });
  expect(output).toMatch(
    /: step 60 of 60, loss \d+\.\d{4}, right \d+\.\d %, exact \d+\.\d %, \d+ tokens\/s/,
  );
  const report = JSON.parse(whole.file("report.json").toString());
  expect(report).toMatchObject({
    ...{ task: "reverse", architecture: "transformer", seed: 1, steps: 60, examples: 960 },
    versions: { heed: expect.stringMatching(/^\d+\.\d+\.\d+$/), format: 1 },
    heldOut: { examples: 1000, exact: expect.any(Number), tokens: expect.any(Number) },
    recipe: { steps: 60, batch: 16 },
  });
  expect(report.alignment).toHaveLength(4);
  expect(Object.keys(report.probes)).toEqual(["length 16", "length 20", "length 24"]);
  expect(report.curve.step).toHaveLength(60);
  expect(report.validation.exact).toHaveLength(1);
  expect(JSON.parse(whole.file("config.json").toString())).toMatchObject({ size: 8, seed: 1 });
});

test("the same seed gives the same bytes, with two threads too, and another seed gives others", async () => {
  const one = training();
  const [two, other] = [training("--threads", "2"), training("--seed", "2")];
  for (const { run } of [one, two, other]) expect((await run()).status).toBe(0);
  for (const file of ["model.safetensors", "config.json"])
    expect(two.file(file).equals(one.file(file))).toBe(true);
  expect(other.file("model.safetensors").equals(one.file("model.safetensors"))).toBe(false);
});

test("the same command continues after SIGINT and SIGTERM, to the same bytes", async () => {
  const [straight, stopped] = [training("--steps", "130"), training("--steps", "130")];
  const first = await interrupted(stopped, "SIGINT");
  const second = await interrupted(stopped, "SIGTERM");
  for (const { status, output } of [first, second]) {
    expect(output).toMatch(/step \d+ of 130, kept in \S+checkpoint\.safetensors\n/);
    expect(output).toMatch(/the same command goes on from there: \.\/dev train pronouns .*--name/);
    expect(status).toBe(130);
  }
  const [resumed] = await Promise.all([stopped.run(), straight.run()]);
  expect(resumed.output).toMatch(/goes on after step \d+ of 130, from \S+checkpoint\.safetensors/);
  expect(resumed.status).toBe(0);
  expect(stopped.file("model.safetensors").equals(straight.file("model.safetensors"))).toBe(true);
});

describe("a checkpoint", () => {
  test("of other settings is kept, and the message lists every difference", async () => {
    const before = readFileSync(whole.checkpoint);
    const { status, errors } = await whole.run("--batch", "8", "--heads", "2", "--seed", "5");
    expect(status).toBe(2);
    expect(errors).toMatch(
      /^heed: \S+checkpoint\.safetensors: state: expected the state of this training, got that of another: config\.heads is 4, not 2; config\.seed is 1, not 5; recipe\.batch is 16, not 8; seed is 1, not 5; --restart begins anew, another --name keeps both\n$/,
    );
    expect(readFileSync(whole.checkpoint).equals(before)).toBe(true);
  });

  test("that is incomplete, or another file, is refused by name; --restart begins again", async () => {
    const broken = training("--steps", "3");
    expect((await broken.run()).status).toBe(0);
    const [model, good] = [broken.file("model.safetensors"), readFileSync(broken.checkpoint)];
    const changed = Buffer.from(good);
    changed[good.length - 9] = 77;
    for (const bytes of [good.subarray(0, 5000), changed, model, Buffer.from("{}")]) {
      writeFileSync(broken.checkpoint, bytes);
      const { status, output, errors } = await broken.run();
      expect({ status, output }).toEqual({ status: 2, output: "" });
      expect(errors).toMatch(
        /^heed: \S+checkpoint\.safetensors: .*expected .*, got .*; --restart begins anew.*\n$/,
      );
      expect(readFileSync(broken.checkpoint).equals(bytes)).toBe(true);
    }
    expect((await broken.run("--restart")).status).toBe(0);
    expect(broken.file("model.safetensors").equals(model)).toBe(true);
  });

  test("stays valid when the next one is written only in part", async () => {
    const { run: again, checkpoint, file } = training("--steps", "3");
    expect((await again()).status).toBe(0);
    const model = file("model.safetensors");
    writeFileSync(`${checkpoint}.part`, readFileSync(checkpoint).subarray(0, 1000));
    const { status, output } = await again();
    expect(output).toContain("goes on after step 3 of 3");
    expect(status).toBe(0);
    expect(file("model.safetensors").equals(model)).toBe(true);
  });
});

test("a training locks its folder until it ends, however it ends", async () => {
  const endless = training("--steps", "100000");
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const first = spawn(process.execPath, endless.command, { stdio: [...stdio] });
  const ended = new Promise((resolve) => first.once("close", resolve));
  await new Promise((resolve) => first.stdout.once("data", resolve));
  const { status, errors } = await endless.run();
  expect(errors).toMatch(
    new RegExp(`^heed: \\S+: another training is writing there, process ${first.pid}\n$`),
  );
  expect(status).toBe(2);
  first.kill("SIGKILL");
  await ended;
  const second = await interrupted(endless, "SIGINT");
  expect(second.output).toContain("goes on after step");
  expect(second.status).toBe(130);
  expect(readdirSync(dirname(endless.checkpoint))).toEqual(["checkpoint.safetensors"]);
});

describe("an impossible request is refused in one line", () => {
  const occupied = join(folder, "a-file");

  test.each<[words: string[], message: RegExp]>([
    [[], /one task of brackets, copy, .*, got none/],
    [["fly"], /task: expected one of brackets, copy, .*, got fly/],
    [["reverse", "--model", "gpt"], /--model: expected one of transformer, .*, got gpt/],
    [
      ["reverse", "--model", "encoder"],
      /architecture: expected "transformer" .* for a translation, got "encoder"/,
    ],
    [["reverse", "--heads", "3"], /heads: expected a divisor of size 64, got 3/],
    [["reverse", "--size", "0"], /--size: expected a whole number from 1 to 2048, got 0/],
    [
      ["reverse", "--steps", "many"],
      /--steps: expected a whole number from 1 to 1000000, got many/,
    ],
    [["reverse", "--learning-rate", "-1"], /--learning-rate/],
    [
      ["reverse", "--tokens", "word"],
      /tokens: expected an option of reverse \(.*\), got an unknown one/,
    ],
    [["reverse", "--colour", "red"], /Unknown option '--colour'/],
    [
      ["reverse", "--name", "../up"],
      /--name: expected letters, digits, dots and dashes, got \.\.\/up/,
    ],
    [["reverse", "--out", join(occupied, "in")], /a-file\/in: ENOTDIR/],
    [["reverse", "--out", occupied], /a-file: ENOTDIR/],
    [["--all", "--seed", "2"], /--all: expected no --seed beside it/],
  ])("%j", async (words, message) => {
    writeFileSync(occupied, "");
    const { status, output, errors } = await run(process.execPath, [program, ...words]);
    expect(errors).toMatch(message);
    expect(errors).toMatch(/^heed: .*\n$/);
    expect({ status, output }).toEqual({ status: 2, output: "" });
  });
});

test("the models of the repository are listed", async () => {
  const { status, output } = await run(process.execPath, [program, "--list"]);
  expect(status).toBe(0);
  expect(output).toMatch(/^\| reverse-transformer +\| /m);
  expect(output).toMatch(/^\| dates-rnn +\| layers 1 /m);
});
