/**
 * Plays a sound and tells which frame is playing, according to the clock of the sound if that runs. It uses an audio
 * element, which starts asynchronously; the first AudioContext of a page blocks it for more than 100 ms.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Live } from "../../../shared/Transport";
import { hop, rate, type Sound, secondsOf } from "./sound";
import { waveOf } from "./wave";

/** Without an audio device the clock of the sound may not run: after this many seconds the page's clock is used. */
const patience = 1;

interface Options {
  readonly sound: Sound | null;
  readonly frames: number;
  readonly frame: number;
  /** Whether the selected row follows the sound while it plays, or is set only afterwards. */
  readonly follows: boolean;
  go(frame: number): void;
}

/** `seek` goes to a frame, and continues there if it is playing. */
export function usePlayer({
  sound,
  frames,
  frame,
  follows,
  go,
}: Options): Live & { seek(frame: number): void } {
  const [isPlaying, setIsPlaying] = useState(false);
  const element = useRef<HTMLAudioElement | null>(null);
  /** What is playing, and its current frame. */
  const playing = useRef<{ frame: number } | null>(null);
  const latest = useRef({ frame, frames, follows, go });
  latest.current = { frame, frames, follows, go };

  const stop = useCallback((goes: boolean) => {
    const now = playing.current;
    playing.current = null;
    setIsPlaying(false);
    if (!now) return;
    element.current?.pause();
    if (goes) latest.current.go(now.frame);
  }, []);

  // Prepares the sound in advance; another sound, or leaving the room, ends it.
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
  }, [sound, stop]);

  const start = (from: number) => {
    const audio = element.current;
    if (!sound || !audio) return;
    audio.currentTime = secondsOf(from);
    // If sound is not allowed, the rows still move.
    audio.play().catch(() => {});
    const begun = performance.now();
    const now = { frame: from };
    playing.current = now;
    setIsPlaying(true);
    const follow = () => {
      if (playing.current !== now) return;
      const { frames, follows, go } = latest.current;
      const heard = audio.currentTime - secondsOf(from);
      const seen = (performance.now() - begun) / 1000 - patience;
      const elapsed = heard > 0 ? heard : Math.max(0, seen);
      const frame = Math.min(frames - 1, from + Math.floor((elapsed * rate) / hop));
      if (frame !== now.frame) {
        now.frame = frame;
        if (follows) go(frame);
      }
      if (audio.ended || secondsOf(from) + elapsed >= sound.samples.length / rate) stop(true);
      else requestAnimationFrame(follow);
    };
    requestAnimationFrame(follow);
  };
  const seek = (frame: number) => {
    if (playing.current) {
      stop(false);
      start(frame);
    }
    go(frame);
  };

  return {
    isPlaying,
    seek,
    setPlaying(wanted) {
      stop(!wanted && !latest.current.follows);
      if (wanted) start(frame >= frames - 1 ? 0 : frame);
    },
  };
}
