#pragma once

// The largest numbers of a row, and draws from softmax(logits / temperature).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/arrays/table.hpp"
#include "kernels/elementary.hpp"

namespace heed::kernels {

/// The indices of a row in descending order of its numbers, one at a time, from a heap: sorting the
/// whole row would take longer.
template <class Isa>
class Descending {
 public:
  /// `heap` has room for all indices of the row.
  Descending(const float* row, std::int64_t size, std::int32_t* heap) noexcept
      : row_(row), heap_(heap), end_(heap + size) {
    for (std::int64_t i = 0; i < size; ++i) heap[i] = static_cast<std::int32_t>(i);
    std::make_heap(heap_, end_, ComesAfter{row_});
  }
  std::int32_t next() noexcept {
    std::pop_heap(heap_, end_, ComesAfter{row_});
    return *--end_;
  }

 private:
  /// Whether a comes after b. NaN comes last.
  struct ComesAfter {
    const float* row;
    bool operator()(std::int32_t a, std::int32_t b) const noexcept {
      const bool is_nan = std::isnan(row[a]);
      if (is_nan != std::isnan(row[b])) return is_nan;
      return row[a] < row[b] || (!(row[a] > row[b]) && a > b);
    }
  };

  const float* row_;
  std::int32_t* heap_;
  std::int32_t* end_;
};

template <class Isa>
void top_k(const float* row, std::int64_t size, std::int64_t k, std::int32_t* heap, float* values,
           std::int32_t* indices) noexcept {
  Descending<Isa> descending(row, size, heap);
  for (std::int64_t i = 0; i < k; ++i) {
    indices[i] = descending.next();
    values[i] = row[indices[i]];
  }
}

template <class Isa>
LogitsCheck check_logits(const float* row, std::int64_t size) noexcept {
  bool has_nan = false, has_any = false;
  for (std::int64_t i = 0; i < size; ++i) {
    has_nan |= std::isnan(row[i]);
    has_any |= row[i] != -std::numeric_limits<float>::infinity();
  }
  return has_nan ? LogitsCheck::kNaN : has_any ? LogitsCheck::kValid : LogitsCheck::kNothing;
}

template <class Isa>
std::int32_t sample(const SampleRow& s) noexcept {
  const auto size = static_cast<std::int32_t>(s.size);
  std::int32_t largest = 0;
  for (std::int32_t i = 1; i < size; ++i)
    if (s.logits[largest] < s.logits[i]) largest = i;
  if (s.temperature == 0.0f) return largest;
  const auto weight = [&, highest = s.logits[largest]](std::int32_t index) {
    // The difference of two infinities would be NaN.
    if (s.logits[index] == highest) return 1.0;
    return exponential((static_cast<double>(s.logits[index]) - static_cast<double>(highest)) /
                       static_cast<double>(s.temperature));
  };

  const std::int64_t most = s.top_k == 0 ? s.size : std::min(s.top_k, s.size);
  std::int64_t count = s.size;
  double sum = 0.0;
  if (most == s.size && s.top_p >= 1.0f) {
    for (std::int32_t i = 0; i < size; ++i) {
      s.chosen[i] = i;
      sum += weight(i);
    }
  } else {
    Descending<Isa> descending(s.logits, s.size, s.heap);
    for (count = 0; most < s.size && count < most; ++count) {
      s.chosen[count] = descending.next();
      sum += weight(s.chosen[count]);
    }
    if (most == s.size)
      for (std::int32_t i = 0; i < size; ++i) sum += weight(i);
    const double enough = static_cast<double>(s.top_p) * sum;
    const std::int64_t known = count;
    sum = 0.0;
    for (count = 0; count < most && (count == 0 || sum < enough); ++count) {
      if (count >= known) s.chosen[count] = descending.next();
      sum += weight(s.chosen[count]);
    }
  }

  double left = s.fraction * sum;
  // If rounding leaves a remainder, the last token whose weight is not zero is drawn.
  std::int32_t last = largest;
  for (std::int64_t i = 0; i < count; ++i) {
    const double w = weight(s.chosen[i]);
    if (w == 0.0) continue;
    last = s.chosen[i];
    left -= w;
    if (left < 0.0) break;
  }
  return last;
}

}  // namespace heed::kernels
