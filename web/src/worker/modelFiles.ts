/** The files of the trained models, for every desk in the worker: fetched once, and shared by the rooms. */
import type { ModelFiles } from "heed/models";

const fetched = new Map<string, Promise<ArrayBuffer>>();

async function load(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/** A file that did not come is asked for again the next time. */
async function file(address: string): Promise<Uint8Array> {
  const coming = fetched.get(address) ?? load(address);
  fetched.set(address, coming);
  try {
    return new Uint8Array(await coming);
  } catch (error) {
    fetched.delete(address);
    const { message } = error as Error;
    throw new Error(`a model's file did not come (${message}). Is there a connection?`);
  }
}

const textAt = async (address: string) => new TextDecoder().decode(await file(address));

/** What loadModel takes. `folder` is a whole address, because the worker's own is another one than the page's. */
export async function modelFilesIn(folder: string): Promise<ModelFiles> {
  const [config, weights] = await Promise.all([
    textAt(`${folder}/config.json`),
    file(`${folder}/model.safetensors`),
  ]);
  return { config, weights };
}

/** report.json, of which a room names the parts that it shows. */
export async function reportIn<Report>(folder: string): Promise<Report> {
  return JSON.parse(await textAt(`${folder}/report.json`)) as Report;
}
