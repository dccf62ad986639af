/** The files of the trained models, for all solvers: fetched once and shared by the rooms. */
import type { ModelFiles } from "heed/models";

const fetched = new Map<string, Promise<ArrayBuffer>>();

/** Receives the number of a file's bytes that have arrived. */
type Hear = (loaded: number) => void;

async function load(address: string, hear?: Hear): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  if (!hear || !response.body) return response.arrayBuffer();
  let loaded = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      loaded += part.length;
      hear(loaded);
      controller.enqueue(part);
    },
  });
  return new Response(response.body.pipeThrough(counter)).arrayBuffer();
}

/** Fetches a file once. After a failure the next call tries again. */
async function file(address: string, hear?: Hear): Promise<Uint8Array> {
  const pending = fetched.get(address) ?? load(address, hear);
  fetched.set(address, pending);
  try {
    return new Uint8Array(await pending);
  } catch (error) {
    fetched.delete(address);
    const { message } = error as Error;
    throw new Error(`a model's file did not come (${message}). Is there a connection?`);
  }
}

const textAt = async (address: string) => new TextDecoder().decode(await file(address));

/**
 * The argument of loadModel. `folder` is an absolute address, because the worker's base address differs from the
 * page's.
 */
export async function modelFilesIn(folder: string): Promise<ModelFiles> {
  const [config, weights] = await Promise.all([
    textAt(`${folder}/config.json`),
    file(`${folder}/model.safetensors`),
  ]);
  return { config, weights };
}

/** The files of a language model by name, as loadModel takes them. `hear` hears of its weights. */
export async function hubFilesIn(folder: string, hear?: Hear): Promise<Record<string, Uint8Array>> {
  const names = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
  const named = names.map(async (name) => {
    const isWeights = name === "model.safetensors";
    return [name, await file(`${folder}/${name}`, isWeights ? hear : undefined)] as const;
  });
  return Object.fromEntries(await Promise.all(named));
}

/** Reads report.json; `Report` declares the parts that a room shows. */
export async function reportIn<Report>(folder: string): Promise<Report> {
  return JSON.parse(await textAt(`${folder}/report.json`)) as Report;
}
