// Counts WebAssembly memory: import this before any module that allocates memory.

const all = [];

WebAssembly.Memory = class extends WebAssembly.Memory {
  constructor(descriptor) {
    super(descriptor);
    all.push(this);
  }
};

/** Counts a memory that a module made itself. */
export const countMemory = (buffer) =>
  all.push({
    get buffer() {
      return buffer();
    },
  });

/** Bytes of all memories of this worker. They never shrink. */
export const memoryBytes = () => all.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
