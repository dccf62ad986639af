// onnxruntime: the contenders for one case, with either of its packages for JavaScript.

import { bytesOf, modelOf } from "./onnx.mjs";
import { operators } from "./onnx_models.mjs";

/** The message of the runtime, without the name of the C++ function that failed. */
const reason = (error) =>
  error.message
    .trim()
    .replace(/^.*\(\) /s, "")
    .split("\n")[0];

/** The tensors that a run gets, by name. */
const feedsOf = (ort, inputs) =>
  Object.fromEntries(
    inputs.map(({ name, type = "float32", shape, data }) => [
      name,
      new ort.Tensor(type, data, shape),
    ]),
  );

/**
 * A session for one operator; inputs are turned into its tensors once. With `earlier`, the inputs
 * of an earlier run, the outputs present.* of this run are the inputs past.* of all calls.
 */
async function prepare(load, options, { nodes, inputs, constants, outputs, read, earlier }) {
  const model = modelOf({ nodes, inputs, constants, outputs });
  const ort = await load();
  const externals = (constants ?? []).filter(({ isExternal }) => isExternal);
  const session = await ort.InferenceSession.create(model, {
    ...options,
    // The files that the model refers to.
    ...(externals.length > 0 && {
      externalData: externals.map((each) => ({ path: each.name, data: bytesOf(each) })),
    }),
  });
  const feeds = feedsOf(ort, inputs);
  if (earlier)
    for (const [name, tensor] of Object.entries(await session.run(feedsOf(ort, earlier))))
      if (name.startsWith("present")) feeds[name.replace("present", "past")] = tensor;
  return {
    answer: async () => read((await session.run(feeds))[outputs[0]].data),
    run: () => session.run(feeds),
  };
}

/**
 * A contender for each operator that can compute a case.
 *
 * @param {string} library the package's name
 * @param {(operator: string) => Promise<object>} load returns the package, with its own memory for each
 *   operator if possible
 * @param {object} options of a session
 */
export function operatorsFor(library, load, options, one, inputs) {
  const contenders = [];
  for (const [operator, kinds] of Object.entries(operators)) {
    const graph = kinds[one.kind]?.(one, inputs);
    if (!graph) continue;
    contenders.push({
      ...{ name: `${library} ${operator}`, reason },
      prepare: () => prepare(() => load(operator), options, graph),
    });
  }
  return contenders;
}
