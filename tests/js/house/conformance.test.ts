// ./dev conformance without its build step: only the outputs that a model's case lists are compared.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CausalLanguageModel } from "heed/models";
import { expect, onTestFinished, test } from "vitest";
import { filesOf, gpt2 } from "../checkpoints.js";
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
