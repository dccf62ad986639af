/** The models whose files the browser keeps, in the worker. */
import { deleteKept, listKept } from "heed/models";
import type { KeptModel } from "./messages";

/** The address of a model, from the address of one of its files. */
function modelOf(file: string): string {
  return file.replace(/(\/resolve\/main)?\/[^/]*$/, "");
}

/** @param deleted the address of a model whose files are deleted first */
export async function keptModels(deleted: string | null): Promise<KeptModel[]> {
  if (deleted !== null) await deleteKept(deleted);
  const models = new Map<string, KeptModel>();
  for (const { address: file, bytes, size } of await listKept()) {
    const address = modelOf(file);
    const sum = models.get(address);
    models.set(address, {
      address,
      bytes: (sum?.bytes ?? 0) + bytes,
      size: (sum?.size ?? 0) + size,
    });
  }
  return [...models.values()];
}
