import type { Room } from "../../shared/room";
import { read, write } from "./link";
import { lookKeys, type State } from "./state";
import { View } from "./View";
import "./learn.css";

const learn: Room<State> = {
  title: "Learning to attend",
  lead: "A small model trains here, told the answers, never what to attend to.",
  panels: {
    play: "play, step and reset",
    example: "the example",
    heads: "the heads",
    curves: "the curves",
    controls: "settings",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write,
  View,
};

export default learn;
