/** One of the threads that crew.ts starts. */
import { type Member, serve } from "./crewTurns";

self.onmessage = ({ data }: MessageEvent<Member>) => serve(data, () => self.postMessage("ready"));
