#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "heed/context.hpp"
#include "heed/tensor.hpp"

namespace heed {

/// Keys and values of a batch of sequences, in the layout that the attention kernel reads, so that
/// appending a token copies only that token. Memory comes in pages of 128 tokens. Sequences may
/// share pages; a sequence that writes to a shared page gets its own copy of it first (paged
/// attention: Kwon et al., "PagedAttention", 2023).
class KvCache {
 public:
  /// How numbers are stored. Int8 has one scale for each token and head. Steps of few queries then
  /// compute with queries and weights of 16 bits, which adds little to the error of int8.
  enum class Format { kFloat32, kFloat16, kInt8 };

  struct Options {
    std::int64_t batch = 1;
    std::int64_t heads = 0;
    std::int64_t head_size = 0;
    /// 0 means head_size.
    std::int64_t value_size = 0;
    /// The maximum number of tokens of a sequence.
    std::int64_t capacity = 0;
    Format format = Format::kFloat32;
    /// A sequence keeps its last `capacity` tokens and drops older ones, instead of refusing new
    /// ones; positions continue to count. In attention, the query at position p sees the last
    /// `capacity` keys up to its own, from p - capacity + 1 on, as with window_left = capacity - 1.
    /// So it does not matter whether tokens are appended one by one or many at a time. A rewind
    /// does not restore dropped tokens.
    bool is_rolling = false;
  };

  /// Throws OptionError for sizes below 1. Pages are allocated as they are needed.
  KvCache(Context& context, const Options& options);
  ~KvCache();
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;

  const Options& options() const noexcept;
  /// The number of tokens appended to sequence b and not rewound, dropped ones included. It is the
  /// position of the next token.
  std::int64_t length(std::int64_t b) const;
  /// The position of the oldest token in the cache; in a rolling cache at least length(b) -
  /// capacity.
  std::int64_t first(std::int64_t b) const;
  /// Memory of all pages, shared ones counted once.
  std::size_t bytes() const noexcept;

  /// Appends k [batch, heads, L, head_size] and v [batch, heads, L, value_size]. counts, int32
  /// [batch], is the number of the L rows that each sequence takes, all by default. Throws
  /// ShapeError, DTypeError; OptionError when a sequence that does not roll would pass its
  /// capacity; MemoryError. After an error nothing has been appended.
  void append(const TensorView& k, const TensorView& v,
              const std::optional<TensorView>& counts = {});

  /// Removes the last tokens of sequence b. Throws OptionError if it has fewer.
  void rewind(std::int64_t b, std::int64_t tokens);

  /// Replaces the contents of sequence `to` by the first `tokens` tokens of sequence `from`, whose
  /// pages it then shares. Throws OptionError if `from` has fewer or has dropped some of them.
  void share(std::int64_t from, std::int64_t to, std::int64_t tokens);

  /// Replaces each sequence b by the former sequence order[b], all in one step. Copies of the same
  /// sequence share its pages. order int32 [batch]. Throws ShapeError, DTypeError, OptionError.
  void reorder(const TensorView& order);

  /// Internal: for the operations of this library.
  class Pages;
  Pages& pages() noexcept { return *pages_; }
  const Pages& pages() const noexcept { return *pages_; }

 private:
  std::unique_ptr<Pages> pages_;
};

}  // namespace heed
