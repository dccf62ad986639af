import type { Room } from "../../shared/room";
import { lookKeys as languageKeys } from "./language/state";
import { read, type State, write } from "./state";
import { lookKeys as taskKeys } from "./tasks/state";
import { View } from "./View";
import "../../network/network.css";
import "./models.css";
import "./language/language.css";
import "./tasks/tasks.css";

export default {
  title: "Models",
  lead: "See where each head of a model attends, on your own text. Ablate a head: what changes?",
  panels: {
    model: "the choice of a model",
    input: "the model and its text",
    answer: "the answer",
    controls: "settings",
    text: "the text, token by token",
    next: "what may come next",
    heads: "all heads",
    head: "one head",
    cache: "the cache",
    network: "the whole network",
    compare: "the comparison",
    try: "what to try",
  },
  look: [...new Set([...languageKeys, ...taskKeys])] as (keyof State)[],
  variantOf: ({ kind }) => kind,
  read,
  write,
  View,
} satisfies Room<State>;
