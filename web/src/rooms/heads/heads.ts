import type { Room } from "../../shared/room";
import { read, write } from "./link";
import { lookKeys, type State } from "./state";
import { View } from "./View";
import "./heads.css";

const heads: Room<State> = {
  title: "Heads",
  lead: "Small models, each trained for one task. Drop a head: does the answer change?",
  panels: {
    input: "the model and its input",
    answer: "the answer",
    controls: "settings",
    heads: "all heads",
    head: "one head",
    compare: "the comparison",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write,
  View,
};

export default heads;
