#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/heed.hpp"
#include "ops/attention/mask.hpp"
#include "runtime/arena.hpp"

namespace heed::ops {

/// The strides of the rows of q, k, v or output.
struct Layout {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t row;

  template <class T>
  T* at(T* data, std::int64_t b, std::int64_t h, std::int64_t i) const noexcept {
    return data + b * batch + h * head + i * row;
  }
};

/// A number for each batch entry - or packed sequence - and head, in an array that broadcasts to
/// [B, H].
struct HeadNumbers {
  const float* data = nullptr;
  std::int64_t sequence = 0;  // strides; 0 repeats
  std::int64_t head = 0;

  /// The address of the number; null if there is no array.
  const float* at(std::size_t n, std::int64_t h) const noexcept {
    return data ? data + index(n, h) : nullptr;
  }
  std::int64_t index(std::size_t n, std::int64_t h) const noexcept {
    return static_cast<std::int64_t>(n) * sequence + h * head;
  }
};

/// The queries of one sequence and the keys they may see.
struct Sequence {
  std::int64_t first_query;  // in its batch entry; 0 unless sequences are packed
  std::int64_t queries;
  std::int64_t first_key;
  std::int64_t oldest;         // the oldest key that exists; 0 unless the cache is rolling
  std::int64_t rolling_first;  // query i sees no key before rolling_first + i
  std::int64_t keys;           // number of keys
  std::int64_t visible;        // number of keys within the lengths and the mask's last axis
  std::int64_t offset;         // query i has position i + offset
};

/// A validated call of attention, in one form for all layouts of inputs.
struct AttentionProblem {
  /// Throws ShapeError, DTypeError, OptionError. Refers to arrays of the options and memory of the
  /// scope.
  AttentionProblem(const TensorView& q, const TensorView& k, const TensorView& v,
                   const AttentionOptions& options, Arena::Scope& scratch);

  std::int64_t B, H, G, L, S, D, Dv;
  /// The number of keys of the past, which come before k.
  std::int64_t past = 0;
  Layout q_layout, k_layout, v_layout, output_layout;
  /// The rows of the [B, H, L] or [H, Tq] arrays.
  Layout row_layout;
  Shape output_shape;
  Shape row_shape;
  Shape pairs_shape;  // [B, H, L, S]
  bool is_packed = false;
  /// With a cache: the new tokens of each sequence.
  std::vector<std::int64_t> appended;
  /// One for each batch entry, or for each packed sequence. There is none if there is nothing to
  /// compute, because arrays without elements may have any number of batch entries.
  std::span<Sequence> sequences;
  BroadcastMask mask;
  bool is_causal;
  std::int64_t left, right;  // of the window
  float scale;
  HeadNumbers alibi_slopes, sinks;

  /// The batch entry whose memory holds a sequence.
  std::int64_t batch_of(std::size_t sequence) const noexcept {
    return is_packed ? 0 : static_cast<std::int64_t>(sequence);
  }

  kernels::VisibleKeys visible(std::size_t sequence) const noexcept {
    const Sequence& s = sequences[sequence];
    return {s.oldest, s.rolling_first, s.visible, is_causal, s.offset, left, right};
  }
};

/// Whether results other than output and lse are requested.
bool needs_more_than_lse(const AttentionOptions& options);

}  // namespace heed::ops
