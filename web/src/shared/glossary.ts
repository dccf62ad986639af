/** Definitions of technical terms, one or two sentences each. Loaded when a person first opens one. */
export const glossary = {
  token: "A piece of the input with its own vector: a word, a part of one, a letter, or a patch.",
  embedding: "The vector that a token starts with.",
  query: "The vector with which a token asks for what it needs: a row of every attention matrix.",
  key: "The vector that a token is found by: a column, with which each query is compared.",
  value: "The vector that a token contributes to the tokens that attend to it.",
  score: "The dot product of a query and a key: large if both point the same way and are long.",
  softmax:
    "Turns scores into positive shares that sum to 1: e to the power of each, divided by the sum of all.",
  weight: "The share of its attention that a query gives to a key. A row of weights adds up to 1.",
  mask: "Hides keys: their score is −∞ before the softmax, so their weight is 0.",
  causal: "A mask that hides the future: a token attends only to itself and to earlier ones.",
  head: "One attention with its own queries, keys and values. The outputs of several are joined.",
  ablation:
    "Puts zeros (Michel et al., 2019) or a mean (Wang et al., 2022) in place of a head's output, to see which answers depend on it.",
  layer: "One round of attention and what follows it. The next layer works on its output.",
  "self-attention": "Attention whose queries, keys and values come from the same sequence.",
  encoder: "Reads the whole input; every token may attend to every other one.",
  decoder:
    "Writes the answer token by token: it attends to what is written and, with an encoder, to the input.",
  position:
    "A vector for each position, added to the embedding: attention alone does not know the order of tokens.",
  entropy:
    "How widely a row's weights are spread, in bits: 0 for one key, log₂ n for n keys evenly.",
  "answer positions":
    "The positions of the input that the answer at a row comes from, known because we made the task: where a head should attend.",
  "uniform attention": "The baseline for a head: the number if every key had the same weight.",
  "unseen examples": "Examples that no training step has seen.",
  temperature:
    "Divides the logits before the softmax: below 1 likely tokens become likelier, above 1 all more alike; at 0 the likeliest is taken.",
  "top-k and top-p":
    "Only the k most likely tokens may be drawn (Fan et al., 2018), or the fewest whose probabilities sum to p (Holtzman et al., 2020).",
  logit: "The number that a model gives a token, before the softmax makes it a probability.",
  "residual stream":
    "The vector of a token on its way through the layers: each attention and feed-forward network reads it and adds to it.",
  "RMS norm":
    "Divides a vector by the root mean square of its entries, and multiplies each by a learned gain (Zhang and Sennrich, 2019).",
  "feed-forward network":
    "The part of a layer that works on each token alone: many units, each with a vector to add. Here a unit is SiLU(gate) × up (SwiGLU; Shazeer, 2020).",
  "logit lens":
    "Reads the residual stream out after any layer, as if that were the last one (nostalgebraist, 2020).",
  cache: "The keys and values of all tokens read so far, computed once because they do not change.",
  induction:
    "A head that attends to what followed the current token before, so that the model can repeat it (Olsson et al., 2022).",
  perplexity:
    "e to the power of the loss: as if the model chose among this many equally likely tokens.",
  loss: "The mean of −ln of the probability of the right answer, which training makes small.",
  "learning rate": "How far each training step moves the parameters.",
  seed: "The start of random numbers: the same seed gives the same numbers.",
  RNN: "A recurrent neural network reads token after token and keeps all that it knows in one vector, its state.",
  "Bahdanau attention":
    "The first attention (Bahdanau, Cho and Bengio, 2015): at every step a decoder RNN attends to all states of the encoder RNN, scored by a small network.",
  "path length": "The number of operations that information passes from one position to another.",
  kernel:
    "A function that says how similar two points are, such as a bell curve of their distance. In attention it is e to the power of q·k.",
  bandwidth:
    "How far a kernel reaches; in attention, the temperature. A larger one spreads the weights more evenly.",
  "non-local means":
    "Removes noise: each pixel becomes the mean of those whose surroundings look alike, wherever they are (Buades, Coll and Morel, 2005).",
  PSNR: "Peak signal-to-noise ratio, in decibels: how near a picture is to the true one. 6 dB more is half the error.",
  SIMD: "Instructions that compute four numbers at once; “simd” is our binary that uses WebAssembly's.",
  relaxed:
    "Our faster binary: its fused multiply-add (relaxed SIMD) may round differently on different processors.",
  wide: "Like “relaxed”, for browsers that merge two SIMD instructions into one for eight numbers.",
  int8: "Each weight as a whole number from −127 to 127, with one scale for a row: a quarter of the memory, slightly different results.",
  "GFLOP/s": "Billions of floating-point multiplications and additions in a second.",
} as const;

export type TermName = keyof typeof glossary;
