/** `heed/view`: attention as pictures, without a framework and without WebAssembly. */
export {};
