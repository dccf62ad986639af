/** "Step by step" on a layer of a small model of a task shows the model's own numbers. */
import { type Heed, load } from "heed";
import { DecoderModel, type EncoderModel, loadModel, taskOf } from "heed/models";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { MatrixName } from "../../web/src/rooms/steps/matrices";
import { stageWords } from "../../web/src/rooms/steps/stages";
import { withModel } from "../../web/src/rooms/steps/state";
import type { WalkAnswer } from "../../web/src/rooms/steps/walk";
import { type ExhibitId, exhibitIds, exhibitOf } from "../../web/src/shared/catalogue";
import { modelFilesIn } from "../../web/src/worker/modelFiles";
import { expectClose } from "./layers";
import { fetchPublished, published } from "./published";
import { asked, said, solved, valuesOf } from "./walked";

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
  fetchPublished();
});
afterAll(() => {
  vi.unstubAllGlobals();
  heed.dispose();
});

const readers = exhibitIds.filter((id) => id !== "shapes");
const otherOf = async (id: ExhibitId) => {
  const { others } = await asked(null, "");
  return others.find(({ link }) => link === id) as WalkAnswer["others"][number];
};

type Results = Partial<Record<MatrixName, Float32Array>>;

/** The results of a layer while the model answers a text as it does in the room Models. */
async function computedBy(id: ExhibitId, text: string, layer: number): Promise<Results> {
  const folder = `${published}models/${exhibitOf(id).folder}`;
  const model = loadModel(heed, await modelFilesIn(folder)) as EncoderModel | DecoderModel;
  model.eval();
  const stack = model instanceof DecoderModel ? model.decoder : model.encoder;
  const task = taskOf(model.config.task, model.config.taskOptions);
  const example = task.solve?.(text) ?? task.read?.(text);
  const found: Results = {};
  const copy = ({ data }: { data: unknown }) => (data as Float32Array).slice();
  const forward = stack.forward.bind(stack);
  stack.forward = (x, options = {}) =>
    forward(x, {
      ...options,
      receiveLayer(i, { selfAttn, feedForward }) {
        if (i !== layer) return;
        found.embedding = copy(selfAttn.before);
        found.input = copy(selfAttn.input);
        found.result = copy(selfAttn.added);
        found.between = copy(selfAttn.after);
        found.units = copy(feedForward.units);
        found.after = copy(feedForward.after);
      },
    });
  const [attentions = []] = heed.scope(() => model.attentions([example as never]));
  const name = model instanceof DecoderModel ? "decoder" : "encoder";
  const own = attentions.find(({ path }) => path === `${name}.layers.${layer}.self_attn`);
  found.weights = own?.weights as Float32Array;
  model.dispose();
  return found;
}

describe.each(readers)("A layer of the model of %s", (id) => {
  const walked = async (layer: number) => {
    const opened = withModel(await otherOf(id));
    return solved(heed, { ...opened, layer, row: 2, head: 1 });
  };

  test.each([0, 1])("has the model's weights and outputs, layer %i", async (layer) => {
    const { state, solution } = await walked(layer);
    const wanted = await computedBy(id, state.text, layer);
    expect(Object.keys(wanted)).toHaveLength(7);
    for (const [name, numbers] of Object.entries(wanted))
      expectClose(solution.arrays[name as MatrixName] as Float32Array, numbers, name);
  });

  test("is explained with its biases and its norms", async () => {
    const found = await walked(1);
    const { state, attention, solution } = found;
    expect(attention.model).toMatchObject({ isCausal: id === "brackets", isPostNorm: false });
    expect(stageWords.embedding(state, attention)).toContain("subtracts its mean");
    for (const matrix of ["q", "k", "v", "result"] as const) {
      const { sum, value } = valuesOf(said(found, matrix, 2, 3));
      expect(sum, matrix).toBeCloseTo(value, 1);
    }
    expect(solution.block?.isLast).toBe(id !== "pronouns");
    expect(attention.model?.words.end).toMatch(
      { pronouns: /^the answer/, brackets: /^the prediction/ }[id as string] ?? /^the decoder/,
    );
    expect(solution.block?.next.result).toHaveLength(attention.model?.size ?? 0);
  });
});

test("The models of tasks that read a text are offered, each with its first text", async () => {
  const { others } = await asked(null, "");
  expect(others.map(({ link, mask }) => [link, mask])).toEqual(
    readers.map((id) => [id, id === "brackets" ? "causal" : "none"]),
  );
  for (const { link, text } of others) {
    const { walked } = await asked(link, text as string, heed);
    expect(walked?.tokens.tokens.length, link).toBeGreaterThan(4);
    expect(walked?.tokens.ids).toHaveLength(walked?.tokens.tokens.length as number);
  }
});

test("A text that a model of a task cannot read has no tokens, and a reason", async () => {
  const unread = async (id: ExhibitId, text: string) => {
    const { walked, why } = await asked(id, text, heed);
    expect([walked?.tokens.tokens, why]).toEqual([[], null]);
    return walked?.tokens.why;
  };
  expect(await unread("pronouns", "Alice met Zaphod in Oslo.")).toBe(
    "The model does not know “Zaphod”, “Oslo”.",
  );
  expect(await unread("sort", "")).toBe("Nothing is typed.");
  expect(await unread("brackets", "()".repeat(30))).toContain("These are 60 tokens");
  expect(await unread("sort", "a b c")).toBe("The model does not know “␣”.");
  expect(await unread("sort", "a1b2c3d4e5")).toBe(
    "The model does not know “1”, “2”, “3” and 2 more.",
  );
  expect(await unread("pronouns", "Zaphod ".repeat(300))).toContain("up to 48 tokens");
});

test("A model that cannot be shown has a reason", async () => {
  const shapes = await asked("shapes", "", heed);
  expect(shapes.why).toBe(
    "The layers of the model “shapes” are not shown: its tokens are parts of a picture.",
  );
  vi.stubGlobal("fetch", async () => new Response("", { status: 503, statusText: "Busy" }));
  const other = await load({ threads: 1 });
  vi.resetModules();
  const { default: fresh } = await import("../../web/src/rooms/steps/walk");
  const request = { model: "dates", text: "1 May", base: published };
  const { walked, why } = await fresh(request, { heed: other } as never);
  expect(walked).toBeNull();
  expect(why).toMatch(
    /^The layers of the model “dates” are not shown: a model's file did not come/,
  );
  other.dispose();
  fetchPublished();
});
