/** Suggestions of what to try with language models. */
import type { Suggestion } from "../../../shared/room";

const named = "Mr. Darcy smiled. Elizabeth looked at Mr.";
const twice = "Elizabeth walked to the village. Mary stayed. Elizabeth walked to the";

/** A link to a text that our model reads. It writes only if the link says so. */
const linkTo = (text: string, more: string) =>
  `#room=models&text=${encodeURIComponent(text)}&length=0&${more}`;

export const ourSuggestions: readonly Suggestion[] = [
  [
    linkTo("We have been an occasion", "head=6.3&ablate=6.3"),
    "Ablate a previous-token head",
    "Layer 6, head 3 attends to the token before. Without it, “of” is far less likely after “occasion”.",
  ],
  [
    linkTo(named, "layer=6"),
    "Where a name comes from",
    "Follow the name’s probability down the layers of the whole network. Then write “Mr. Collins” for “Mr. Darcy”.",
  ],
  [
    linkTo(twice, "order=measure&measure=previous"),
    "Heads that look back",
    "They come first now. Others build on them, to copy what followed a word.",
  ],
  [
    linkTo(twice, "order=measure&measure=first"),
    "Heads on the first token",
    "They come first now. Much of that weight may fall on a short value.",
  ],
  [
    "#room=models&text=Call+me+Ishmael.&temperature=0",
    "Temperature 0",
    "Without chance the text soon repeats itself.",
  ],
  [
    "#room=models&temperature=1.5&topp=1",
    "Temperature 1.5",
    "Unlikely tokens become likelier. A lower top-p keeps them out.",
  ],
  [
    linkTo("鯨は海に住む。The whale", "head=1.1"),
    "Another script",
    "Every text is bytes: a Japanese character takes up to three tokens.",
  ],
];

export const yourSuggestions: readonly Suggestion[] = [
  [
    "#room=models&model=openai-community/gpt2&dtype=int8",
    "GPT-2 from the hub: 548 MB",
    "As int8 it takes about a third of that in memory.",
  ],
  [
    "#room=models&model=distilbert/distilbert-base-uncased&dtype=float16",
    "A hidden word in DistilBERT",
    "The model guesses what a mask hides. Hide another word.",
  ],
  [
    "#room=models&model=google-t5/t5-small",
    "A translation with T5: 242 MB",
    "Its encoder-decoder attention shows which words of your sentence each German word comes from.",
  ],
];
