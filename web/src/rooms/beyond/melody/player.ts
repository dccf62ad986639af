/** Plays a sound, and says which of its frames is heard: that depends on the audio clock alone, where it runs. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Live } from "../../../components/Transport";
import { hop, rate, type Sound, secondsOf } from "./sound";

/** A machine without a loudspeaker may have an audio clock that stands still: after so many seconds the page's serves. */
const patience = 1;

interface Playing {
  readonly source: AudioBufferSourceNode;
  readonly frame: number;
}

interface Options {
  readonly sound: Sound | null;
  readonly frames: number;
  readonly frame: number;
  /** Whether the row in view goes along with the sound, or only afterwards. */
  readonly follows: boolean;
  go(frame: number): void;
}

/** `seek` goes to a frame, and plays on from there if it plays. */
export function usePlayer({
  sound,
  frames,
  frame,
  follows,
  go,
}: Options): Live & { seek(frame: number): void } {
  const [isPlaying, setIsPlaying] = useState(false);
  const context = useRef<AudioContext | null>(null);
  const playing = useRef<Playing | null>(null);
  const latest = useRef({ frame, frames, follows, go });
  latest.current = { frame, frames, follows, go };

  const stop = useCallback((goes: boolean) => {
    const now = playing.current;
    playing.current = null;
    setIsPlaying(false);
    if (!now) return;
    now.source.stop();
    if (goes) latest.current.go(now.frame);
  }, []);

  const start = (from: number) => {
    if (!sound) return;
    context.current ??= new AudioContext();
    const audio = context.current;
    void audio.resume();
    const buffer = audio.createBuffer(1, sound.samples.length, rate);
    buffer.copyToChannel(sound.samples, 0);
    const source = audio.createBufferSource();
    source.buffer = buffer;
    source.connect(audio.destination);
    const begun = { heard: audio.currentTime, seen: performance.now() };
    source.start(0, secondsOf(from));
    let now: Playing = { source, frame: from };
    playing.current = now;
    setIsPlaying(true);
    const follow = () => {
      if (playing.current?.source !== source) return;
      const { frames, follows, go } = latest.current;
      const heard = audio.currentTime - begun.heard;
      const seen = (performance.now() - begun.seen) / 1000 - patience;
      const elapsed = heard > 0 ? heard : Math.max(0, seen);
      const frame = Math.min(frames - 1, from + Math.floor((elapsed * rate) / hop));
      if (frame !== now.frame) {
        now = { ...now, frame };
        playing.current = now;
        if (follows) go(frame);
      }
      if (secondsOf(from) + elapsed >= sound.samples.length / rate) stop(true);
      else requestAnimationFrame(follow);
    };
    requestAnimationFrame(follow);
  };

  // Another sound, or leaving the room, ends the old one.
  useEffect(() => () => stop(false), [sound, stop]);
  useEffect(
    () => () => {
      void context.current?.close();
      context.current = null;
    },
    [],
  );

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
