import type { Room } from "../../shared/room";
import { lookKeys, read, type State, write } from "./state";
import { View } from "./View";
import "./beyond.css";
import "./plots.css";

export default {
  title: "Beyond words",
  lead: "One weighted sum cleans pictures, draws curves, fills gaps and hears repeats.",
  panels: {
    subject: "the choice of what attends",
    controls: "settings",
    picture: "the picture",
    weights: "the weights",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write,
  View,
} satisfies Room<State>;
