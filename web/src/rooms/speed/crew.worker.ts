/** One of the threads that crew.ts starts. */
import { type CrewMember, serve } from "./crewTurns";

self.onmessage = ({ data }: MessageEvent<CrewMember>) =>
  serve(data, () => self.postMessage("ready"));
