import type { Room } from "../../shared/room";
import { read, write } from "./link";
import { lookKeys, type State } from "./settings";
import { View } from "./View";
import "./steps.css";
import "./pipeline.css";
import "./stage.css";

const steps: Room<State> = {
  title: "Attention, step by step",
  lead: "Attention lets each word take what it needs from the others.",
  panels: {
    sentence: "the sentence",
    pipeline: "the pipeline of stages",
    picture: "the current stage",
    controls: "settings",
    table: "the table of one query",
    lines: "the lines",
    root: "why scores are divided by √d",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write,
  View,
};

export default steps;
