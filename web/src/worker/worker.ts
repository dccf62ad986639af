/** What the page's worker does: it owns the engine, so that the page itself never waits. */
import { load } from "heed";
import { buffersIn, dispatcher, wordsOf } from "./dispatch";
import type { FromWorker, ToWorker } from "./protocol";
import { desks } from "./solvers";

function send(message: FromWorker): void {
  self.postMessage(message, { transfer: [...buffersIn(message)] });
}

export async function start(): Promise<void> {
  try {
    const heed = await load(self.name === "heed alone" ? { threads: 1 } : {});
    const dispatch = dispatcher(heed, desks, send);
    self.onmessage = ({ data }: MessageEvent<ToWorker>) => dispatch(data);
    const { version, variant, threads, reason } = heed.info;
    send({ ready: { version, variant, threads, reason } });
  } catch (error) {
    send({ failed: wordsOf(error) });
  }
}
