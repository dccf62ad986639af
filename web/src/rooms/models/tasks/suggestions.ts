/** Suggestions for the models of tasks. */
import type { Suggestion } from "../../../shared/room";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=models&model=pronouns&head=encoder.3.4&compare=encoder.3.1",
    "Compare two heads",
    "One attends to who is meant, the other spreads its weight.",
  ],
  [
    "#room=models&model=pronouns&text=Alice+helped+Clara+because+she+was+tired.",
    "“tired” in place of “kind”",
    "The kind help, the tired are helped: one word makes “she” somebody else.",
  ],
  [
    "#room=models&model=dates&ablate=decoder.1.1",
    "Lose a digit",
    "One head tells which character comes next. Without it a digit is lost.",
  ],
  [
    "#room=models&model=reverse&order=measure",
    "Write letters backwards",
    "The answer attends to the input from its end: the other diagonal.",
  ],
];
