/** The open attention weights. An open model stays open, too. */

import { type Attention, readAttention } from "heed/view";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FoundFile } from "./source";

/** The weights of a file, with the data needed to read it again when its tokens arrive later. */
export interface OpenAttention {
  readonly weights: File;
  readonly attentions: readonly Attention[];
  /** The names of arrays that are no attention weights. */
  readonly ignored: readonly string[];
}

const modelFile = /^(config\.json|tokenizer\.json|model.*\.safetensors|.*\.index\.json)$/;
const weightsFile = /\.(npy|npz|safetensors)$/i;
const tokensFile = /\.json$/i;

/** The files of attention weights and tokens among chosen files; null if they are no such files, but perhaps a model's. */
function attentionFilesIn(found: readonly FoundFile[], isOpen: boolean): readonly File[] | null {
  const files = found.map(({ file }) => file);
  if (files.some(({ name }) => modelFile.test(name))) return null;
  const weights = files.filter(({ name }) => weightsFile.test(name));
  const tokens = files.filter(({ name }) => tokensFile.test(name));
  if (weights.length > 0) return [...weights, ...tokens];
  return isOpen && files.length > 0 && tokens.length === files.length ? tokens : null;
}

/** Reads chosen files, or the tokens for the weights that are open. */
async function readFiles(
  files: readonly File[],
  open: OpenAttention | null,
): Promise<OpenAttention> {
  const own = files.find(({ name }) => weightsFile.test(name));
  const weights = own ?? (open as OpenAttention).weights;
  const { attentions, ignored } = await readAttention(own ? files : [weights, ...files]);
  return { weights, attentions, ignored };
}

/** Why files could not be read, for the person who chose them. */
function whyNotRead(files: readonly File[], error: unknown): string {
  const names = files.map(({ name }) => name).join(" and ");
  const message = error instanceof Error ? error.message : String(error);
  return `${names} cannot be shown: ${message}.`;
}

/** Stays open while the person is in other rooms. */
let kept: OpenAttention | null = null;

export function useAttention(setWhy: (why: string | null) => void) {
  const [open, setOpen] = useState(kept);
  const [reading, setReading] = useState<string | null>(null);
  const latest = useRef(0);
  // A file is read only during this visit of the room.
  useEffect(() => () => void ++latest.current, []);
  const show = (now: OpenAttention | null) => {
    kept = now;
    setOpen(now);
  };
  /**
   * Reads files that contain attention weights, or tokens for the open weights. Returns whether the files may be of
   * this kind.
   */
  const take = (found: readonly FoundFile[]): boolean => {
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
  };
  const close = () => {
    ++latest.current;
    setReading(null);
    show(null);
  };
  return { open, reading, take, close };
}
