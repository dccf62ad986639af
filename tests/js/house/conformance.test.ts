// ./dev conformance without its build step: only the outputs that a model's case lists are compared.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CausalLanguageModel, MaskedLanguageModel } from "heed/models";
import { expect, onTestFinished, test } from "vitest";
import { bert, filesOf, gpt2 } from "../checkpoints.js";
import { run } from "../child.js";
import { engine } from "../engine.js";
import { load } from "../loaded.js";

const heed = engine({ threads: 1 });
const program = join(import.meta.dirname, "../../conformance/run.mjs");

test.each([[[3]], [[3, 1, 4]]])(
  "a case that lists logits alone passes, for the tokens %j",
  async (ids) => {
    const folder = mkdtempSync(join(tmpdir(), "heed-conformance-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const files = filesOf(gpt2());
    const model = await load(heed(), files, CausalLanguageModel);
    const logits = heed().scope(() => {
      const { shape, data } = model.forward(heed().tensor([ids], undefined, "int32")).logits;
      return { dtype: "float32", shape: [...shape], data: [...(data as Float32Array)] };
    });
    model.dispose();
    const own = join(folder, "models/tiny");
    mkdirSync(own, { recursive: true });
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(own, name), bytes);
    const inputs = { input_ids: { dtype: "int64", shape: [1, ids.length], data: ids } };
    const tolerance = { abs: 1e-5, rel: 1e-5 };
    const whole = {
      name: "tiny",
      kind: "gpt2",
      options: {},
      inputs,
      outputs: { logits },
      tolerance,
    };
    writeFileSync(join(own, "expected.json"), JSON.stringify(whole));
    const { output, errors, status } = await run(process.execPath, [program, folder]);
    expect([output, errors, status]).toEqual(["passed tiny: logits\n1 passed, 0 failed\n", "", 0]);
  },
);

test.each([
  [2, /^passed tiny: hidden_states\.2\n1 passed, 0 failed\n$/],
  [1, /^failed tiny: hidden_states\.2\[12\] is /],
])("a case of an encoder compares the rows of tokens alone: row %i", async (row, expected) => {
  const folder = mkdtempSync(join(tmpdir(), "heed-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = filesOf(bert("bert"));
  const model = await load(heed(), files, MaskedLanguageModel);
  const state = heed().scope(() => {
    const keyMask = heed().tensor([[true, true, false]]);
    const ids = heed().tensor([[3, 4, 0]], undefined, "int32");
    const { shape, data } = model.forward(ids, { keyMask }).output;
    return { dtype: "float32", shape: [...shape], data: [...(data as Float32Array)] };
  });
  model.dispose();
  state.data[12 * row] = 9;
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  const input = (data: number[]) => ({ dtype: "int64", shape: [1, 3], data });
  const whole = {
    ...{ name: "tiny", kind: "bert", options: {}, outputs: { "hidden_states.2": state } },
    inputs: { input_ids: input([3, 4, 0]), attention_mask: input([1, 1, 0]) },
    tolerance: { abs: 1e-5, rel: 1e-5 },
    notes: "Compare encoder rows only where attention_mask is 1.",
  };
  writeFileSync(join(folder, "expected.json"), JSON.stringify(whole));
  const { output } = await run(process.execPath, [program, folder]);
  expect(output).toMatch(expected);
});
