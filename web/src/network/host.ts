/** The interface through which a room controls the pictures of its network. */
import { workspaceIn } from "../shared/workspaceIn";
import type { Spot } from "./messages";

export interface NetworkHost {
  /** The locked number. */
  readonly kept: Spot | null;
  keep(spot: Spot | null): void;
  /** Selects a head of the open layer, counted from 0. */
  choose(head: number): void;
  /** A short note about a head of a layer. */
  noteOf?(layer: number, head: number): string | null;
}

export const [NetworkHostContext, useNetworkHost] = workspaceIn<NetworkHost>();
