// Shared by the tests of heed/worker in all environments of the package.

export interface WorkerReport {
  numbers: number[];
  threads: number;
  interrupts: boolean;
  code: string;
  model: number[];
}

/** A module that computes in a worker, and cancels a call that would take seconds. */
export const reportModule = (entry = "heed/worker") => `
  import { loadInWorker } from "${entry}";
  export async function report(options) {
    const heed = await loadInWorker({ threads: 2, ...options });
    const x = await heed.tensor([1, 2]);
    const numbers = [...(await (await heed.multiply(x, 2)).data)];
    const large = await heed.zeros([1, 16, 4096, 64]);
    const controller = new AbortController();
    const call = heed.attention(large, large, large, { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    const { code } = await call.catch((error) => error);
    const layer = await heed.nn.Linear(heed, 2, 3);
    const { shape: model } = await layer.forward(await heed.reshape(x, [1, 2]));
    const { threads } = heed.info;
    const interrupts = heed.isInterruptible;
    heed.dispose();
    return { numbers, threads, interrupts, code, model };
  }`;

export const expected: WorkerReport = {
  numbers: [2, 4],
  threads: 2,
  interrupts: true,
  code: "cancelled",
  model: [1, 3],
};
