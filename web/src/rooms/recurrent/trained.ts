import type { ModelFiles } from "heed/models";
import { modelFilesIn, reportIn } from "../../worker/modelFiles";
import { type ModelName, modelNames } from "./problem";

/** The parts of report.json that are shown. */
interface ReportFile {
  parameters: number;
  examples: number;
  heldOut: { examples: number; exact: number };
  probes: Record<"short forms" | "long forms", { exact: number }>;
  alignment: { mass: number }[];
}

const folderOf = (base: string, model: ModelName) => `${base}dates-${model}`;

export function filesOf(base: string, model: ModelName): Promise<ModelFiles> {
  return modelFilesIn(folderOf(base, model));
}

/** The results of the models on held-out examples. */
export function reportsOf(base: string) {
  return Promise.all(
    modelNames.map(async (name) => {
      const report = await reportIn<ReportFile>(folderOf(base, name));
      const { parameters, examples, heldOut, probes, alignment } = report;
      const masses = alignment.map(({ mass }) => mass);
      return {
        ...{ name, parameters, lessons: examples },
        examples: heldOut.examples,
        exact: heldOut.exact,
        short: probes["short forms"].exact,
        long: probes["long forms"].exact,
        /** The attention on the right places of the head with the most of it; null without attention. */
        mass: masses.length > 0 ? Math.max(...masses) : null,
      };
    }),
  );
}
