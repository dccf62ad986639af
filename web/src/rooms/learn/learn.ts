import type { Room } from "../../shared/room";
import { lookKeys, read, type State, write } from "./state";
import { View } from "./View";
import "./learn.css";

export default {
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
} satisfies Room<State>;
