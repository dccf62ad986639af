/**
 * Plays a sound and reports the frame that is playing, by the clock of the sound if it runs. Uses an audio element,
 * which starts asynchronously. The first AudioContext of a page would block the page for more than 100 ms.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Live } from "../../../shared/Transport";
import { hop, rate, type Sound, secondsOf } from "./sound";
import { waveOf } from "./wave";

/** Without an audio device the clock of the sound may not run. After this many seconds the page's clock replaces it. */
const patience = 1;

interface Options {
  readonly sound: Sound | null;
  readonly frames: number;
  readonly frame: number;
  /** Whether the selected row follows the sound while it plays, or is set only afterwards. */
  readonly follows: boolean;
  go(frame: number): void;
}

/** `seek` moves to a frame. If the sound is playing, it continues from there. */
export function usePlayer({
  sound,
  frames,
  frame,
  follows,
  go,
}: Options): Live & { seek(frame: number): void } {
  const [isPlaying, setIsPlaying] = useState(false);
  const element = useRef<HTMLAudioElement | null>(null);
  /** The current frame; null if nothing is playing. */
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

  // Prepares the sound in advance. Stops when the sound changes or the person leaves the room.
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
    // If the browser refuses to play sound, the rows still move.
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
