#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The resources of operations: a thread pool, scratch memory and the kernels of one instruction
/// set. Make one and keep it. A context runs one operation at a time; several contexts are
/// independent.
class Context {
 public:
  struct Options {
    /// Threads that compute, the calling one included; 0 means one per core.
    int threads = 1;
    /// An instruction set from `available_isas`; empty means the environment variable HEED_ISA
    /// if it is set, else the best one.
    std::string_view isa = {};
  };

  Context();
  /// Throws OptionError for a negative thread count or an instruction set this machine lacks.
  explicit Context(const Options& options);
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  int threads() const noexcept;
  /// The number of threads that have started. A thread starts after the constructor returns, in
  /// WebAssembly only when its worker has loaded. Until then the other threads do its work.
  int running_threads() const noexcept;
  /// The instruction set in use, for example "avx2", or "avx2+vnni" with dot products of bytes.
  std::string_view isa() const noexcept;

  /// The number of the call in progress, which its caller may set, or kCancelled. Any thread may
  /// write kCancelled. The running operation then throws CancelledError when the threads have
  /// finished the pieces of work that they have begun. All further operations throw it until
  /// another number is written. Operations that change arguments in place (optim.hpp) always
  /// finish.
  std::atomic<std::int32_t>& call() noexcept;
  static constexpr std::int32_t kCancelled = -1;

  /// The instruction sets that this build has kernels for and this machine can run, best first.
  static std::vector<std::string_view> available_isas();

  /// Internal: reports that a thread of a context has stopped; C++ does not notice when a trap of
  /// WebAssembly stops it. Called on that thread, with the argument that the thread was started
  /// with. The running operation, or the next one that is shared among threads, throws
  /// StoppedError.
  static void thread_stopped(void* argument, std::string why) noexcept;

  /// Internal: for the operations of this library.
  class Runtime;
  Runtime& runtime() noexcept { return *runtime_; }

 private:
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace heed
