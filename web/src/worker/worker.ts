/** The page's worker. It owns the engine, so that no computation blocks the page. */
import { load } from "heed";
import { buffersIn, dispatcher, messageOf } from "./dispatch";
import type { FromWorker, ToWorker } from "./protocol";
import { solvers } from "./solvers";

function send(message: FromWorker): void {
  self.postMessage(message, { transfer: [...buffersIn(message)] });
}

export async function start(): Promise<void> {
  try {
    const heed = await load(self.name === "heed alone" ? { threads: 1 } : {});
    const dispatch = dispatcher(heed, solvers, send);
    self.onmessage = ({ data }: MessageEvent<ToWorker>) => dispatch(data);
    const { version, variant, threads, reason } = heed.info;
    send({ ready: { version, variant, threads, reason } });
  } catch (error) {
    send({ failed: messageOf(error) });
  }
}
