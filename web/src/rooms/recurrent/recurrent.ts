import type { Room } from "../../shared/room";
import { lookKeys, read, type State, write } from "./state";
import { View } from "./View";
import "./recurrent.css";
import "./paths.css";
import "../../network/network.css";
import "./network/whole.css";

export default {
  title: "From RNN to attention",
  lead: "Three models rewrite a date. One keeps it in a single vector; two can look back at it.",
  panels: {
    date: "the date",
    answers: "the three answers",
    controls: "settings",
    maps: "the alignment maps",
    paths: "paths and steps",
    decoding: "own output and teacher forcing",
    scores: "unseen dates",
    network: "the whole Transformer",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write,
  View,
} satisfies Room<State>;
