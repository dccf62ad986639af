// How much WebAssembly memory there is: import this before anything that makes some.

const all = [];

WebAssembly.Memory = class extends WebAssembly.Memory {
  constructor(descriptor) {
    super(descriptor);
    all.push(this);
  }
};

/** For one that a module made itself: how to get its buffer. */
export const countMemory = (buffer) =>
  all.push({
    get buffer() {
      return buffer();
    },
  });

/** Bytes of all memories of this worker. They never shrink. */
export const memoryBytes = () => all.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
