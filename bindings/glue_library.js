// Functions of Emscripten's JavaScript library that the glue defines in another way (--js-library).

const { library } = LibraryManager;

// Another Emscripten may have other names, and a change of a missing function would be lost. Embind's
// function is not checked, because the linker also runs this file where it is missing, to print types.
const required = [
  "emscripten_num_logical_cores",
  "_emscripten_thread_mailbox_await",
  "$invokeEntryPoint",
];
for (const name of required)
  if (!(name in library)) throw new Error(`glue_library.js: Emscripten has no ${name} to change`);
if (!library.$PThread.allocateUnusedWorker)
  throw new Error("glue_library.js: Emscripten has no $PThread.allocateUnusedWorker to leave out");

// bindings/js/load/threads.ts starts the workers, because it handles their failures and knows their
// address. Bundlers would look for the script that is named here.
delete library.$PThread.allocateUnusedWorker;

addToLibrary({
  // Deno asks for a permission to read the number of cores; bindings/js/load/features.ts knows it.
  emscripten_num_logical_cores: () => Module.cores || 1,

  // The main thread does not wait with Atomics.waitAsync, whose promise would keep the module and its
  // memory alive for ever. Messages of its threads arrive through postMessage instead, so an engine
  // that was disposed of is collected.
  $awaitMailbox__deps: library._emscripten_thread_mailbox_await__deps,
  $awaitMailbox: library._emscripten_thread_mailbox_await,
  _emscripten_thread_mailbox_await__deps: ["$awaitMailbox"],
  _emscripten_thread_mailbox_await: (thread) => {
    if (ENVIRONMENT_IS_PTHREAD) awaitMailbox(thread);
  },

  // C++ cannot catch a trap, and the caller would wait for ever for the thread that it ended. With
  // Context::thread_stopped the call fails.
  $runEntryPoint__deps: library.$invokeEntryPoint__deps,
  $runEntryPoint: library.$invokeEntryPoint,
  $invokeEntryPoint__deps: ["$runEntryPoint"],
  $invokeEntryPoint: (entryPoint, argument) => {
    try {
      runEntryPoint(entryPoint, argument);
    } catch (error) {
      if (error !== "unwind") Module.threadStopped(argument, String(error?.message ?? error));
    }
  },

  // Only a result that is an address must be made unsigned. Embind's own function does more for each
  // call with an address, also if only a parameter is one, and takes several times as long as the call.
  $embind__requireFunction__deps: ["$readLatin1String", "$getWasmTableEntry"],
  $embind__requireFunction: (signature, index) => {
    const call = getWasmTableEntry(index);
    if (readLatin1String(signature)[0] !== "p") return call;
    return (...args) => call(...args) >>> 0;
  },
});
