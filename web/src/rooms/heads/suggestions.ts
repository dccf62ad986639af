/** What is worth a look in this room. */
import type { Suggestion } from "../../components/TryNext";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=heads&text=Alice+gave+Clara+a+letter+because+she+needed+it.",
    "Who needed it?",
    "“She” may be Alice or Clara, and only the verb tells. Choose “she” or “it” and see which heads know.",
  ],
  [
    "#room=heads&drop=encoder.2.1,encoder.2.2,encoder.2.3,encoder.2.4",
    "Take a whole layer away",
    "Without the four heads of the second layer the model has to guess. Give them back one by one.",
  ],
  [
    "#room=heads&model=reverse&measure=diagonal&order=measure",
    "The other diagonal",
    "To write letters backwards, the answer looks at the input from its end: a diagonal from corner to corner.",
  ],
  [
    "#room=heads&model=brackets&measure=previous&order=measure",
    "Heads with habits",
    "Sort by “previous token” or “first token”: some heads look at the same place whatever the text.",
  ],
];
