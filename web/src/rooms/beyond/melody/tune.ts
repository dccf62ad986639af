/** The solver that synthesises tunes with repeats. */
import { nn } from "heed/nn";
import type { Solver } from "../../../worker/solver";
import type { TuneName } from "../state";
import { rate, type Sound } from "./sound";

export interface TuneRequest {
  readonly tune: TuneName;
  readonly seed: number;
}

/** A pitch in semitones above the tonic, and its length in quavers. */
type Note = readonly [pitch: number, quavers: number];

const quaver = 0.2;

/** “Frère Jacques”, a round of the 18th century: four bars, each sung twice. A note is its pitch and its quavers. */
const round = ["0:2 2:2 4:2 0:2", "4:2 5:2 7:4", "7:1 9:1 7:1 5:1 4:2 0:2", "0:2 -5:2 0:4"].map(
  (bar) => bar.split(" ").map((note) => note.split(":").map(Number) as [number, number]),
);

const pentatonic = [0, 2, 4, 7, 9, 12, 14, 16];

/** Two random phrases A and B of four beats each, in the form A A B A. */
function composed(seed: number): readonly Note[] {
  const random = new nn.Generator(seed);
  const below = (count: number) => random.next() % count;
  const phrase = () => {
    const notes: Note[] = [];
    let place = below(pentatonic.length);
    for (let left = 16; left > 0; ) {
      const quavers = Math.min(left, [1, 2, 2, 4][below(4)] as number);
      notes.push([pentatonic[place] as number, quavers]);
      left -= quavers;
      const step = [-2, -1, 1, 2][below(4)] as number;
      place = Math.max(0, Math.min(pentatonic.length - 1, place + step));
    }
    return notes;
  };
  const [a, b] = [phrase(), phrase()];
  return [...a, ...a, ...b, ...a];
}

export function notesOf({ tune, seed }: TuneRequest): readonly Note[] {
  return tune === "round" ? round.flatMap((bar) => [...bar, ...bar]) : composed(seed);
}

/** The F above middle C, so that the lowest note of all tunes is the C below it, which the pictures include. */
const tonic = 349.23;
const overtones = [1, 0.45, 0.2, 0.1];

/** The sound of a plucked string: decaying overtones, with a soft start and end. */
function synthesise(notes: readonly Note[]): Float32Array<ArrayBuffer> {
  const total = notes.reduce((sum, [, quavers]) => sum + quavers, 0);
  const samples = new Float32Array(Math.round(total * quaver * rate));
  let start = 0;
  for (const [pitch, quavers] of notes) {
    const length = Math.round(quavers * quaver * rate);
    const turn = (2 * Math.PI * tonic * 2 ** (pitch / 12)) / rate;
    for (let i = 0; i < length; ++i) {
      const t = i / rate;
      const swell = Math.min(1, t / 0.01, (length - i) / rate / 0.02);
      let wave = 0;
      for (const [n, size] of overtones.entries())
        wave += size * Math.exp(-1.5 * (n + 1) * t) * Math.sin(turn * (n + 1) * i);
      samples[start + i] = 0.3 * swell * wave;
    }
    start += length;
  }
  return samples;
}

const solve: Solver<TuneRequest, Sound> = (request) => ({
  id: `${request.tune} ${request.seed}`,
  samples: synthesise(notesOf(request)),
});

export default solve;
