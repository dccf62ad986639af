#pragma once

#include "heed/context.hpp"
#include "kernels/table.hpp"
#include "runtime/arena.hpp"
#include "runtime/thread_pool.hpp"

namespace heed {

/// The contents of a context.
class Context::Runtime {
 public:
  Runtime(int threads, const kernels::KernelTable& kernels) : kernels_(kernels), pool_(threads) {}

  const kernels::KernelTable& kernels() const noexcept { return kernels_; }
  ThreadPool& pool() noexcept { return pool_; }
  /// Scratch memory of the running operation.
  Arena& arena() noexcept { return arena_; }

 private:
  const kernels::KernelTable& kernels_;
  ThreadPool pool_;
  Arena arena_;
};

}  // namespace heed
