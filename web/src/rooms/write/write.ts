import type { Room } from "../../shared/room";
import { read, write as writeLink } from "./link";
import { lookKeys, type State } from "./state";
import { View } from "./View";
import "./write.css";
import "../../network/network.css";

const write: Room<State> = {
  title: "Write",
  lead: "A small language model continues any text. See what it considers for each token, and where every head attends.",
  panels: {
    input: "the text to continue",
    controls: "settings",
    text: "the text, token by token",
    next: "what may come next",
    heads: "all heads",
    head: "one head",
    cache: "the cache",
    network: "the whole network",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write: writeLink,
  View,
};

export default write;
