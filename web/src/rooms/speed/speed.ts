import type { Room } from "../../shared/room";
import { lookKeys, read, type State, write } from "./state";
import { View } from "./View";
import "./speed.css";

export default {
  title: "How fast is attention here?",
  lead: "Measured in this browser, now, beside plain JavaScript and the limits of the processor.",
  panels: {
    run: "progress and result",
    picture: "the chart",
    controls: "settings",
    table: "the table of figures",
    threads: "how to get more threads",
    try: "what to try",
  },
  look: lookKeys,
  read,
  write,
  View,
} satisfies Room<State>;
