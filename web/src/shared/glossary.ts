/** Definitions of technical terms, one or two sentences each. Loaded when a person first opens one. */

export const glossary = {
  token:
    "A piece of the input that has a vector of its own: a word here, elsewhere a letter, a part of a word, or a patch of a picture.",
  embedding: "The vector that a token starts with: a list of numbers in place of the word.",
  query:
    "The vector with which a token asks for what it needs from the others. Queries are the rows of every attention matrix.",
  key: "The vector that a token is found by. Keys are the columns: a query is compared with each.",
  value: "The vector that a token contributes to the tokens that attend to it.",
  score:
    "The dot product of a query and a key: large where both point the same way, and larger still the longer they are.",
  softmax:
    "Turns scores into shares: e to the power of each score, divided by the sum of them all. The shares are positive and add up to 1.",
  weight:
    "The share of its attention that a query gives to one key. Every row of weights adds up to 1.",
  mask: "Hides keys: a hidden key gets the score −∞ before the softmax, and therefore the weight 0.",
  causal:
    "A mask that hides the future: a token attends only to itself and to what comes before it.",
  head: "One attention with its own queries, keys and values. Several heads work in parallel on parts of the vectors, and their outputs are joined.",
  ablation:
    "Computes the model again with zeros (Michel et al., 2019) or a mean (Wang et al., 2022) in place of a head's output, to see which answers depend on that head.",
  layer:
    "One round of attention and what follows it. The next layer works on the output of this one.",
  "self-attention":
    "A sequence attends to itself: queries, keys and values come from the same sequence.",
  encoder: "Reads the whole input; every token may attend to every other one.",
  decoder:
    "Writes the answer token by token: it attends to what it has written and, with an encoder, to the input.",
  position:
    "Attention alone does not know the order of its tokens. So a vector for each position is added to the embedding.",
  entropy:
    "How widely a row's weights are spread, in bits: 0 if all of it falls on one key, log₂ n if n keys share it evenly.",
  "answer positions":
    "The positions of the input that the answer at a row comes from, known because we made the task. The share of attention that falls on them tells whether a head attends to the right tokens.",
  "uniform attention":
    "What a number would be if every key had the same weight: the baseline for a head.",
  "unseen examples": "Examples that no training step has seen.",
  temperature:
    "Divides the logits before the softmax. Below 1 likely tokens become likelier; above 1 all become more alike; at 0 the likeliest is taken.",
  "top-k and top-p":
    "Only the k most likely tokens may be drawn (Fan et al., 2018), or the fewest most likely ones whose probabilities sum to p (Holtzman et al., 2020).",
  logit: "The number that a model gives a token before the softmax makes a probability of it.",
  "residual stream":
    "The vector of a token on its way through the layers: each attention and each feed-forward network reads it and adds to it.",
  "RMS norm":
    "Divides a vector by the root mean square of its entries, and multiplies each by a learned gain (Zhang and Sennrich, 2019).",
  "feed-forward network":
    "The part of a layer that works on each token alone: many units, each of which adds its own vector. Here a unit is SiLU(gate) × up (SwiGLU; Shazeer, 2020).",
  "logit lens":
    "Reads the residual stream out after any layer, as if that were the last one (nostalgebraist, 2020).",
  cache:
    "The keys and values of all tokens that were read. They do not change, so they are computed once.",
  induction:
    "A head that looks for an earlier occurrence of the current token and attends to what followed it, so that the model can repeat it (Olsson et al., 2022).",
  perplexity:
    "e to the power of the loss: among how many equally likely tokens the model is undecided, on average.",
  loss: "How surprised the model is by the right answer, on average: −ln of the probability that it gave to that answer. Training makes it small.",
  "learning rate": "How far each training step moves the parameters.",
  seed: "The number that random numbers start from: the same seed gives the same numbers again.",
  RNN: "A recurrent neural network reads one token after the other and keeps all that it knows in one vector, its state.",
  "Bahdanau attention":
    "The first attention (Bahdanau, Cho and Bengio, 2015): at every step a decoder RNN attends to all states of the encoder RNN, scored by a small network.",
  "path length": "How many operations information has to pass from one position to another.",
  kernel:
    "A function that says how similar two points are, such as a bell curve of their distance. The kernel of attention is e to the power of q·k.",
  bandwidth:
    "How far a kernel reaches. In attention it is called temperature: the larger, the more evenly the weights are spread.",
  "non-local means":
    "Removes noise from a picture: each pixel becomes the mean of those whose surroundings look alike, wherever they are (Buades, Coll and Morel, 2005).",
  PSNR: "Peak signal-to-noise ratio, in decibels: how near a picture is to the true one. 6 dB more is half the error.",
  SIMD: "Instructions that compute four numbers at once; “simd” is our binary that uses WebAssembly's.",
  relaxed:
    "Our faster binary: it uses relaxed SIMD, whose fused multiply-add may round differently from one kind of processor to another.",
  wide: "Our binary for browsers that merge pairs of SIMD instructions into ones that compute eight numbers at once; otherwise like “relaxed”.",
  int8: "Each weight as a whole number from −127 to 127, with one scale for a row: a quarter of the memory, and slightly different results.",
  "GFLOP/s": "Billions of multiplications and additions of floating-point numbers in a second.",
} as const;

export type TermName = keyof typeof glossary;
