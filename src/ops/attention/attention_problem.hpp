#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/heed.hpp"
#include "ops/attention/mask.hpp"
#include "runtime/arena.hpp"

namespace heed::ops {

/// Where the rows of one of q, k, v, output stand.
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

  /// Where the number stands; null if there is no array.
  const float* at(std::size_t n, std::int64_t h) const noexcept {
    return data ? data + index(n, h) : nullptr;
  }
  std::int64_t index(std::size_t n, std::int64_t h) const noexcept {
    return static_cast<std::int64_t>(n) * sequence + h * head;
  }
};

/// The queries of one sequence and the keys they may see.
struct Sequence {
  std::int64_t first_query;  // in its batch entry; not 0 for packed sequences only
  std::int64_t queries;
  std::int64_t first_key;
  std::int64_t oldest;         // key that is still there; not 0 for rolling caches only
  std::int64_t rolling_first;  // query i sees no key before rolling_first + i
  std::int64_t keys;           // that there are
  std::int64_t visible;        // that lengths and the mask's reach leave
  std::int64_t offset;         // query i stands at position i + offset
};

/// A call of attention, validated and brought to one form.
struct AttentionProblem {
  /// Throws ShapeError, DTypeError, OptionError. Lives as long as the scope whose memory it takes.
  AttentionProblem(const TensorView& q, const TensorView& k, const TensorView& v,
                   const AttentionOptions& options, Arena::Scope& scratch);

  std::int64_t B, H, G, L, S, D, Dv;
  /// Keys before those of k.
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
  /// One for each batch entry, or for each packed sequence; none where there is nothing to compute,
  /// because arrays of no elements may have as many batch entries as they like.
  std::span<Sequence> sequences;
  BroadcastMask mask;
  bool is_causal;
  std::int64_t left, right;  // of the window
  float scale;
  HeadNumbers alibi_slopes, sinks;

  /// The batch entry in whose memory a sequence stands.
  std::int64_t batch_of(std::size_t sequence) const noexcept {
    return is_packed ? 0 : static_cast<std::int64_t>(sequence);
  }

  kernels::VisibleKeys visible(std::size_t sequence) const noexcept {
    const Sequence& s = sequences[sequence];
    return {s.oldest, s.rolling_first, s.visible, is_causal, s.offset, left, right};
  }
};

}  // namespace heed::ops
