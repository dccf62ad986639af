#pragma once

#include <vector>

#include "ops/attention/attention_problem.hpp"
#include "runtime/runtime.hpp"

namespace heed::ops {

/// Attention of few queries over a cache, with kernels/attention/decode.hpp.
class Decode {
 public:
  /// Whether this class can compute a call, which depends on sizes and options alone.
  static bool supports(const AttentionProblem& p, const AttentionOptions& options) noexcept;

  /// Takes all the memory that it needs, before the new tokens are appended to the cache.
  Decode(const AttentionProblem& p, const AttentionOptions& options, Context::Runtime& runtime,
         Arena::Scope& scratch);

  /// Writes output, and lse if it is not null, after the new tokens have been appended.
  void run(const float* q, float* output, float* lse, double operations);

 private:
  /// Consecutive tiles of one sequence; the unit of work is a chunk for one key/value head.
  struct Chunk {
    std::size_t sequence;
    std::int64_t tile;
    int tiles;
  };

  int group() const noexcept { return static_cast<int>(p_.H / p_.G); }
  void attend(std::int64_t piece, const float* q, float* scratch) const noexcept;
  void merge(std::size_t sequence, std::int64_t g, float* output, float* lse) const noexcept;

  const AttentionProblem& p_;
  const AttentionOptions& options_;
  Context::Runtime& runtime_;
  std::vector<Chunk> chunks_;        // sequence by sequence
  std::vector<std::size_t> starts_;  // of each sequence's chunks
  kernels::PartialState* states_;    // [G, chunks]
  float* thread_scratch_;
  std::int64_t scratch_size_;
};

}  // namespace heed::ops
