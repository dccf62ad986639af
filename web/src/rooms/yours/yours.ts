import type { Room } from "../../shared/room";
import { read, write } from "./link";
import { lookKeys, type State } from "./state";
import { View } from "./View";
import "../../network/network.css";
import "./yours.css";

const yours: Room<State> = {
  title: "Your model",
  lead: "See every head of a language model on your own text. No file and no text leaves your machine.",
  panels: {
    input: "the choice of a model",
    controls: "settings",
    text: "the text and its tokens",
    next: "what the model expects",
    heads: "all heads",
    head: "one head",
    network: "the whole network",
    compare: "two texts compared",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write,
  View,
};

export default yours;
