/** The files of the trained models, fetched once. */
import type { ModelFiles } from "heed/models";
import { type ModelName, modelNames, type Report } from "./problem";

/** What of report.json is shown. */
interface ReportFile {
  parameters: number;
  examples: number;
  heldOut: { examples: number; exact: number };
  probes: Record<"short forms" | "long forms", { exact: number }>;
  alignment: { mass: number }[];
}

const fetched = new Map<string, Promise<ArrayBuffer>>();

async function load(url: string): Promise<ArrayBuffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/** A file that did not come is asked for again the next time. */
async function file(url: string): Promise<Uint8Array> {
  const coming = fetched.get(url) ?? load(url);
  fetched.set(url, coming);
  try {
    return new Uint8Array(await coming);
  } catch (error) {
    fetched.delete(url);
    const { message } = error as Error;
    throw new Error(`a model's file did not come (${message}). Is there a connection?`);
  }
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const urlOf = (base: string, model: ModelName, name: string) => `${base}dates-${model}/${name}`;

export async function filesOf(base: string, model: ModelName): Promise<ModelFiles> {
  const [config, weights] = await Promise.all([
    file(urlOf(base, model, "config.json")),
    file(urlOf(base, model, "model.safetensors")),
  ]);
  return { config: textOf(config), weights };
}

export function reportsOf(base: string): Promise<Report[]> {
  return Promise.all(
    modelNames.map(async (name) => {
      const text = textOf(await file(urlOf(base, name, "report.json")));
      const { parameters, examples, heldOut, probes, alignment } = JSON.parse(text) as ReportFile;
      const masses = alignment.map(({ mass }) => mass);
      return {
        ...{ name, parameters, lessons: examples },
        examples: heldOut.examples,
        exact: heldOut.exact,
        short: probes["short forms"].exact,
        long: probes["long forms"].exact,
        mass: masses.length > 0 ? Math.max(...masses) : null,
      };
    }),
  );
}
