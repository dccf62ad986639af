// The report of a training: its curves and its final results.

/** Four significant digits are enough for curves and scores. */
const short = (number) => Number(number.toPrecision(4));

export function shortened(values) {
  if (typeof values === "number") return Number.isInteger(values) ? values : short(values);
  if (Array.isArray(values)) return values.map(shortened);
  if (values === null || typeof values !== "object") return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, shortened(value)]),
  );
}

/** Converts a list of points to one list for each of their numbers. */
export const columns = (points) =>
  Object.fromEntries(
    Object.keys(points[0] ?? {}).map((name) => [name, points.map((point) => point[name])]),
  );

/** report.json */
export function reportOf({ trainer, plan, log, files, scores, probes, heads }) {
  const { model, best } = trainer;
  const { name, task, architecture, recipe, seed } = plan;
  const report = {
    ...{ name, task, taskOptions: model.config.taskOptions, architecture },
    parameters: model.parameters().reduce((sum, { size }) => sum + size, 0),
    bytes: files.weights.length,
    seed,
    versions: { heed: model.heed.info.version, format: JSON.parse(files.config).version },
    steps: trainer.stepCount,
    bestStep: best.step,
    examples: trainer.stepCount * recipe.batch,
    seconds: Math.round(log.seconds),
    recipe,
    heldOut: shortened(scores),
    probes: shortened(probes),
    alignment: shortened(heads),
    curve: columns(shortened(log.points)),
    validation: columns(shortened(log.looks)),
  };
  return inLines(report);
}

/** JSON of an object, with one line for each of its parts. */
export function inLines(report) {
  const lines = Object.entries(report).map(
    ([part, value]) => `  ${JSON.stringify(part)}: ${JSON.stringify(value)}`,
  );
  return `{\n${lines.join(",\n")}\n}\n`;
}
