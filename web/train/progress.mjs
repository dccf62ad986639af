// The output of ./dev train: on a terminal one line that is updated with every step, otherwise one line for each
// evaluation.

export const percent = (share) => (share === undefined ? "-" : `${(100 * share).toFixed(1)} %`);

function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function bar(share, width) {
  const done = Math.round(share * width);
  return `[${"#".repeat(done)}${".".repeat(width - done)}]`;
}

/** The minimum number of milliseconds between two updates of the line. */
const interval = 100;

export class Progress {
  #name;
  #stream;
  #steps = 0;
  #begun = performance.now();
  #stepsHere = 0;
  #tokens = 0;
  #inSteps = 0;
  #loss;
  #right;
  #held = "";
  #shown = 0;

  constructor(name, stream) {
    this.#name = name;
    this.#stream = stream;
  }

  /** @param held the result of the last evaluation on held-out examples */
  begin(steps, held) {
    this.#steps = steps;
    this.#held = held;
    this.#begun = performance.now();
  }

  step({ step, loss, right, tokens }, milliseconds) {
    ++this.#stepsHere;
    this.#tokens += tokens;
    this.#inSteps += milliseconds;
    const smooth = (before, now) => now + 0.9 * ((before ?? now) - now);
    this.#loss = smooth(this.#loss, loss);
    if (right !== undefined) this.#right = smooth(this.#right, right);
    const now = performance.now();
    if (!this.#stream.isTTY || now - this.#shown < interval) return;
    this.#shown = now;
    this.#overwrite(`${this.#name} ${bar(step / this.#steps, 20)} ${this.#describe(step)}`);
  }

  look(step, held) {
    this.#held = held;
    if (!this.#stream.isTTY) this.say(this.#describe(step));
  }

  /** Writes a permanent line. */
  say(text) {
    if (this.#stream.isTTY) this.#overwrite("");
    this.#stream.write(`${this.#name}: ${text}\n`);
  }

  #describe(step) {
    const parts = [`step ${step} of ${this.#steps}`];
    if (this.#loss !== undefined) parts.push(`loss ${this.#loss.toFixed(4)}`);
    if (this.#right !== undefined) parts.push(`right ${percent(this.#right)}`);
    parts.push(this.#held);
    if (this.#stepsHere > 0) {
      const perStep = (performance.now() - this.#begun) / this.#stepsHere;
      parts.push(
        `${Math.round((1000 * this.#tokens) / this.#inSteps)} tokens/s`,
        `${clock((perStep * (this.#steps - step)) / 1000)} left at most`,
      );
    }
    return parts.join(", ");
  }

  #overwrite(text) {
    this.#stream.write(`\r\x1b[K${text.slice(0, (this.#stream.columns || 80) - 1)}`);
  }
}
