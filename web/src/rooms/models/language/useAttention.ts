/** The open attention weights. An open model stays open, too. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { attentionFilesIn, type OpenAttention, readFiles, whyNotRead } from "./attentionFiles";
import type { FoundFile } from "./source";

/** Stays open while the person is in other rooms. */
let kept: OpenAttention | null = null;

interface AttentionActions {
  /**
   * Reads files that contain attention weights, or tokens for the open weights. Returns whether the files may be of
   * this kind.
   */
  take(found: readonly FoundFile[]): boolean;
  close(): void;
}

export function useAttention(setWhy: (why: string | null) => void) {
  const [open, setOpen] = useState(kept);
  const [reading, setReading] = useState<string | null>(null);
  const latest = useRef(0);
  // A file is read only during this visit of the room.
  useEffect(() => () => void ++latest.current, []);
  const show = useCallback((now: OpenAttention | null) => {
    kept = now;
    setOpen(now);
  }, []);
  const take = useCallback(
    (found: readonly FoundFile[]) => {
      const files = attentionFilesIn(found, kept !== null);
      if (files === null) return false;
      const turn = ++latest.current;
      setWhy(null);
      setReading(files.map(({ name }) => name).join(", "));
      readFiles(files, kept)
        .then(
          (now) => turn === latest.current && show(now),
          (error) => turn === latest.current && setWhy(whyNotRead(files, error)),
        )
        .finally(() => turn === latest.current && setReading(null));
      return true;
    },
    [setWhy, show],
  );
  const close = useCallback(() => {
    ++latest.current;
    setReading(null);
    show(null);
  }, [show]);
  return { open, reading, actions: { take, close } satisfies AttentionActions };
}
