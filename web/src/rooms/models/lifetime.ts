/** A model in the worker. It is freed after its last request, even if it was closed before. */
export class Lifetime<Model extends { dispose(): void }> {
  readonly model: Model;
  readonly #free: () => void;
  #uses = 0;
  #isClosed = false;

  constructor(model: Model, free: () => void = () => model.dispose()) {
    this.model = model;
    this.#free = free;
  }

  /** Runs a request of the model. */
  async use<T>(run: () => T | Promise<T>): Promise<T> {
    ++this.#uses;
    try {
      return await run();
    } finally {
      --this.#uses;
      this.#freeIfUnused();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#freeIfUnused();
  }

  #freeIfUnused(): void {
    if (this.#isClosed && this.#uses === 0) this.#free();
  }
}
