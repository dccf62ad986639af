/** What a room gives to the pictures of its network. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Spot } from "./messages";

export interface NetworkHost {
  /** The number that is kept. */
  readonly kept: Spot | null;
  keep(spot: Spot | null): void;
  /** Selects a head of the open layer, counted from 0. */
  choose(head: number): void;
  /** What is known of a head of a layer, in a word or two. */
  noteOf?(layer: number, head: number): string | null;
}

export const NetworkHostContext = createContext<NetworkHost | null>(null);

export function useNetworkHost(): NetworkHost {
  const host = useContext(NetworkHostContext);
  if (!host) throw new Error("useNetworkHost needs a NetworkHostContext around it");
  return host;
}
