/** The files of the trained models, for all solvers: fetched once and shared by the rooms. */
import type { ModelFiles } from "heed/models";

const fetched = new Map<string, Promise<ArrayBuffer>>();

async function load(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/** Fetches a file once. After a failure the next call tries again. */
async function file(address: string): Promise<Uint8Array> {
  const pending = fetched.get(address) ?? load(address);
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

/** Reads report.json; `Report` declares the parts that a room shows. */
export async function reportIn<Report>(folder: string): Promise<Report> {
  return JSON.parse(await textAt(`${folder}/report.json`)) as Report;
}
