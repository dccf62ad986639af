// The border between C++ and JavaScript, and the only file that uses Emscripten's headers. All
// operations (operations.hpp) are called in one way. JavaScript writes the arguments as numbers
// into memory that both sides see (bindings/js/core/border.ts), and the operation's signature
// determines how they are read. The results or the reason of a failure are written to the same
// memory. Each call enters the module once; with Embind's own objects there would be a call for
// every option and result.

#include <emscripten/bind.h>
#include <malloc.h>

#include <string>
#include <utility>

#include "operations.hpp"

// Stores version and variant in the binary, so that bindings/js/load/binaries.ts can refuse another
// one: exports have names of one letter, so any binary would link with any glue.
__asm__(".section .custom_section.heed,\"\",@\n.ascii \"" HEED_VERSION " " HEED_WASM_VARIANT
        "\"\n.section .text,\"\",@");

namespace {

using namespace heed;
using emscripten::function;
using heed::border::Engine;
using heed::border::Handle;

Engine& engine_at(Handle engine) { return *reinterpret_cast<Engine*>(engine); }

Handle handle_of(const void* object) { return reinterpret_cast<Handle>(object); }

template <class T>
void destroy(Handle object) {
  delete reinterpret_cast<T*>(object);
}

}  // namespace

EMSCRIPTEN_BINDINGS(heed) {
  emscripten::constant("version", std::string(HEED_VERSION));

  // Null if there is no memory. The engine computes after it has been started.
  function("newEngine", +[] { return handle_of(new (std::nothrow) Engine); });
  function(
      "startEngine", +[](Handle engine, int threads) {
        engine_at(engine).numbers[0] = threads;
        return border::guarded(
            engine_at(engine), 1, +[](Engine& engine, std::size_t) {
              engine.context.emplace(
                  Context::Options{.threads = static_cast<int>(engine.numbers[0])});
            });
      });
  function(
      "runningThreads",
      +[](Handle engine) { return engine_at(engine).context->running_threads(); });
  function("numbersOf", +[](Handle engine) { return handle_of(engine_at(engine).numbers.data()); });
  // A word of 32 bits: see Context::call.
  function("callOf", +[](Handle engine) { return handle_of(&engine_at(engine).context->call()); });
  function("messageOf", +[](Handle engine) { return handle_of(engine_at(engine).message.data()); });
  // The glue calls this on a thread that has stopped: see glue_library.js.
  function(
      "threadStopped", +[](Handle argument, std::string why) {
        Context::thread_stopped(reinterpret_cast<void*>(argument), std::move(why));
      });

  function(
      "deleteTensor", +[](Handle object) {
        auto* const tensor = reinterpret_cast<Tensor*>(object);
        --border::held_tensors.count;
        border::held_tensors.bytes -= tensor->owned_bytes();
        delete tensor;
      });
  function("tensorCount", +[] { return static_cast<double>(border::held_tensors.count); });
  function("tensorBytes", +[] { return static_cast<double>(border::held_tensors.bytes); });
  // The allocator returns a size of 32 bits as an int.
  function(
      "bytesInUse",
      +[] { return static_cast<double>(static_cast<unsigned>(mallinfo().uordblks)); });

  function("deleteKvCache", &destroy<KvCache>);
  function("deleteBlockMask", &destroy<BlockMask>);
  function("deletePackedWeights", &destroy<PackedWeights>);

  border::for_each_operation([]<auto Function>(border::Operation<Function> operation) {
    function(
        operation.name, +[](Handle engine, std::size_t count) {
          return border::guarded(
              engine_at(engine), count,
              +[](Engine& engine, std::size_t count) { border::run(engine, count, +Function); });
        });
  });
}
