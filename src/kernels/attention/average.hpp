#pragma once

// The mean of the visible positions of one batch entry, and its gradient. With causality, the mean
// of a position includes only the positions up to it.

#include <algorithm>
#include <cstdint>

namespace heed::kernels {

/// The positions of one batch entry to average, or their gradients.
struct AverageRows {
  const float* from;    // [rows, size]
  const bool* visible;  // [rows] or null for all
  std::int64_t rows;
  std::int64_t size;
  bool is_causal;
  double* sum;  // [size] scratch
  float* to;    // [rows, size]
};

template <class Isa>
void average(const AverageRows& t) noexcept {
  const std::int64_t L = t.rows, E = t.size;
  std::fill_n(t.sum, E, 0.0);
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < L; ++i) {
    if (!t.visible || t.visible[i]) {
      ++seen;
      for (std::int64_t e = 0; e < E; ++e) t.sum[e] += static_cast<double>(t.from[i * E + e]);
    }
    if (!t.is_causal && i + 1 < L) continue;
    for (std::int64_t e = 0; e < E; ++e)
      t.to[i * E + e] = seen > 0 ? static_cast<float>(t.sum[e] / static_cast<double>(seen)) : 0.0f;
  }
  // Without causality, all positions have the same mean; the last one is complete now.
  if (!t.is_causal)
    for (std::int64_t i = 0; i + 1 < L; ++i) std::copy_n(t.to + (L - 1) * E, E, t.to + i * E);
}

template <class Isa>
void average_backward(const AverageRows& t) noexcept {
  const std::int64_t L = t.rows, E = t.size;
  std::int64_t seen = 0;  // number of positions that position i sees
  for (std::int64_t i = 0; i < L; ++i) seen += !t.visible || t.visible[i] ? 1 : 0;
  std::fill_n(t.sum, E, 0.0);
  const auto add_row = [&](std::int64_t i) {
    for (std::int64_t e = 0; seen > 0 && e < E; ++e)
      t.sum[e] += static_cast<double>(t.from[i * E + e]) / static_cast<double>(seen);
  };
  // From the last position to the first: with causality, position i contributes to the means of the
  // positions from i on.
  if (!t.is_causal)
    for (std::int64_t i = L - 1; i >= 0; --i) add_row(i);
  for (std::int64_t i = L - 1; i >= 0; --i) {
    const bool is_seen = !t.visible || t.visible[i];
    if (t.is_causal) add_row(i);
    for (std::int64_t e = 0; e < E; ++e)
      t.to[i * E + e] = is_seen ? static_cast<float>(t.sum[e]) : 0.0f;
    if (t.is_causal && is_seen) --seen;
  }
}

}  // namespace heed::kernels
