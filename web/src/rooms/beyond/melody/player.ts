/**
 * Plays a sound and reports the frame that is playing, by the clock of the sound if it runs. Uses an audio element,
 * which starts asynchronously. The first AudioContext of a page would block the page for more than 100 ms.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Live } from "../../../shared/Transport";
import { hop, rate, type Sound, secondsOf } from "./sound";

const headerBytes = 44;
const sampleBytes = 2;

/** Encodes samples as a 16-bit WAVE file, which every browser plays. */
function waveOf(samples: Float32Array): Blob {
  const bytes = samples.length * sampleBytes;
  const header = new DataView(new ArrayBuffer(headerBytes));
  const word = (at: number, text: string) => {
    for (let i = 0; i < text.length; ++i) header.setUint8(at + i, text.charCodeAt(i));
  };
  word(0, "RIFF");
  header.setUint32(4, headerBytes - 8 + bytes, true);
  word(8, "WAVEfmt ");
  header.setUint32(16, 16, true); // size of the format chunk
  header.setUint16(20, 1, true); // PCM
  header.setUint16(22, 1, true); // channels
  header.setUint32(24, rate, true);
  header.setUint32(28, rate * sampleBytes, true);
  header.setUint16(32, sampleBytes, true);
  header.setUint16(34, 8 * sampleBytes, true);
  word(36, "data");
  header.setUint32(40, bytes, true);
  const values = Int16Array.from(samples, (x) => 32_767 * Math.max(-1, Math.min(1, x)));
  return new Blob([header, values], { type: "audio/wav" });
}

/** Without an audio device the clock of the sound may not run. After this many seconds the page's clock replaces it. */
const patience = 1;

/**
 * Plays an element from a second of its sound, and calls `at` in every frame with the seconds since then, until it
 * returns false or the sound has ended. The result stops the playing.
 */
function play(audio: HTMLAudioElement, from: number, at: (elapsed: number) => boolean): () => void {
  audio.currentTime = from;
  // If the browser refuses to play sound, the rows still move.
  audio.play().catch(() => {});
  const begun = performance.now();
  let frame = requestAnimationFrame(function follow() {
    const heard = audio.currentTime - from;
    const seen = (performance.now() - begun) / 1000 - patience;
    if (at(heard > 0 ? heard : Math.max(0, seen))) frame = requestAnimationFrame(follow);
  });
  return () => {
    cancelAnimationFrame(frame);
    audio.pause();
  };
}

interface Options {
  readonly sound: Sound | null;
  readonly frames: number;
  readonly frame: number;
  /** Whether the selected row follows the sound while it plays, or is set only afterwards. */
  readonly follows: boolean;
  go(frame: number): void;
}

/** An element that plays the sound. `stop` is called when the sound changes or the person leaves the room. */
function useAudio(sound: Sound | null, stop: (goes: boolean) => void) {
  const element = useRef<HTMLAudioElement | null>(null);
  useEffect(() => {
    if (!sound) return;
    const address = URL.createObjectURL(waveOf(sound.samples));
    const audio = new Audio(address);
    element.current = audio;
    return () => {
      stop(false);
      element.current = null;
      audio.removeAttribute("src");
      audio.load();
      URL.revokeObjectURL(address);
    };
  }, [sound]);
  return element;
}

/** `seek` moves to a frame. If the sound is playing, it continues from there. */
export function usePlayer(options: Options): Live & { seek(frame: number): void } {
  const { sound, frames, frame, go } = options;
  const [isPlaying, setIsPlaying] = useState(false);
  /** The current frame, and the function that stops it; null if nothing is playing. */
  const playing = useRef<{ frame: number; end(): void } | null>(null);
  const latest = useRef(options);
  latest.current = options;

  const stop = (goes: boolean) => {
    const now = playing.current;
    playing.current = null;
    setIsPlaying(false);
    now?.end();
    if (now && goes) latest.current.go(now.frame);
  };
  const element = useAudio(sound, stop);

  const start = (from: number) => {
    const audio = element.current;
    if (!sound || !audio) return;
    const now = { frame: from, end: () => {} };
    playing.current = now;
    setIsPlaying(true);
    now.end = play(audio, secondsOf(from), (elapsed) => {
      const { frames, follows, go } = latest.current;
      const frame = Math.min(frames - 1, from + Math.floor((elapsed * rate) / hop));
      if (frame !== now.frame && follows) go(frame);
      now.frame = frame;
      const isOver = audio.ended || secondsOf(from) + elapsed >= sound.samples.length / rate;
      if (isOver) stop(true);
      return !isOver;
    });
  };
  return {
    isPlaying,
    seek(frame) {
      if (playing.current) {
        stop(false);
        start(frame);
      }
      go(frame);
    },
    setPlaying(wanted) {
      stop(!wanted && !latest.current.follows);
      if (wanted) start(frame >= frames - 1 ? 0 : frame);
    },
  };
}
