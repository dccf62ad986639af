#pragma once

// Embedding lookup: y[..., e] = weight[ids[...], e].
// Vaswani et al., "Attention Is All You Need", section 3.4, 2017 (without the factor sqrt(E)).
//
//   ids int32 [...]    weight [V, E]    -> y [..., E]

#include <cstdint>
#include <vector>

#include "reference/array.hpp"

namespace heed::reference {

inline Array embedding(const TensorView& ids, const Array& weight) {
  const std::int64_t E = weight.shape[1];
  std::vector<std::int64_t> sizes(ids.shape().sizes().begin(), ids.shape().sizes().end());
  sizes.push_back(E);
  Array y{Shape(sizes)};
  std::int64_t row = 0;
  for (const std::int32_t id : ids.data<std::int32_t>()) {
    for (std::int64_t e = 0; e < E; ++e) y[row * E + e] = weight[id * E + e];
    ++row;
  }
  return y;
}

/// dweight[v] = sum of dy over the indices at which ids is v; 0 for the padding index.
inline Array embedding_backward(const Array& d_y, const TensorView& ids, std::int64_t V,
                                std::int64_t padding = -1) {
  const std::int64_t E = d_y.shape[-1];
  Array d_weight{Shape{V, E}};
  std::int64_t row = 0;
  for (const std::int32_t id : ids.data<std::int32_t>()) {
    for (std::int64_t e = 0; e < E && id != padding; ++e) d_weight[id * E + e] += d_y[row * E + e];
    ++row;
  }
  return d_weight;
}

}  // namespace heed::reference
