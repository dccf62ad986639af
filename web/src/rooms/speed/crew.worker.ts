/** One of the threads that crew.ts starts. */
import { type Recruit, serve } from "./crew";

self.onmessage = ({ data }: MessageEvent<Recruit>) => serve(data, () => self.postMessage("ready"));
