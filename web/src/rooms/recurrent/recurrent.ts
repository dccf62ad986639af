import type { Room } from "../../shared/room";
import { read, write } from "./link";
import { lookKeys, type State } from "./state";
import { View } from "./View";
import "./recurrent.css";
import "./decoding.css";

const recurrent: Room<State> = {
  title: "From recurrence to attention",
  lead: "One task, three models: a recurrent network (RNN) that must remember everything in one vector; an RNN that attends to the input, as Bahdanau proposed in 2015; and a Transformer, which uses attention only. All were trained for this page and run in it.",
  panels: {
    date: "the date",
    answers: "the three answers",
    controls: "settings",
    maps: "the alignment maps",
    paths: "paths and steps",
    decoding: "taught and alone, step by step",
    scores: "the scores",
    try: "what to look for",
  },
  look: lookKeys,
  read,
  write,
  View,
};

export default recurrent;
