/** The open row of the whole Transformer, and its text in links. */
import type { StackName } from "../../../network/transformer";
import { numberIn, oneOf } from "../../../shared/linkReaders";

/** A row of a stack: 0 for the start, then the layers, then the end. */
export interface OpenRow {
  readonly stack: StackName;
  readonly row: number;
}

/** Null while the panel is folded; "open" if no row is open. */
export type NetworkState = OpenRow | "open" | null;

const rows = { min: 0, max: 3 } as const;

export function networkFrom(text: string): NetworkState {
  if (text === "open") return text;
  const [stack = "", row = "", ...more] = text.split(".");
  if (more.length > 0) throw new RangeError("open, or a stack and a row, such as decoder.2");
  return { stack: oneOf("encoder", "decoder")(stack), row: numberIn(rows)(row) };
}

export function textOfNetwork(network: NetworkState): string | null {
  return network === null || network === "open" ? network : `${network.stack}.${network.row}`;
}
