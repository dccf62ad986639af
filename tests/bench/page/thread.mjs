// One of the threads that threads.mjs starts.

import { shareOf, work } from "./threads.mjs";

globalThis.onmessage = ({ data }) => {
  const run = shareOf(data);
  globalThis.postMessage("ready");
  work(data.control, run);
};
