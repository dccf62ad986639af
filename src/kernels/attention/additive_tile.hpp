#pragma once

// The arguments of additive_attention.hpp.

#include <cstdint>

namespace heed::kernels {

/// Some queries of one batch entry of additive attention. Rows over A are padded with zeros to
/// `size` numbers, whole panels.
struct AdditiveTile {
  const float* q;       // [queries, size]
  const float* k;       // [keys, size]
  const float* v;       // [keys, value_size]
  const float* weight;  // [size]
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t size;
  std::int64_t value_size;
};

/// The arguments and results of the backward pass of additive attention.
struct AdditiveGradients {
  const float* weights;    // [queries, keys]; where zero, key and value are not read
  const float* d_weights;  // [queries, keys] or null
  const float* d_output;   // [queries, value_size]
  float* d_scores;         // [keys] scratch
  float* q;                // [queries, size]
  // Added to:
  float* k;       // [keys, size]
  float* v;       // [keys, value_size]
  float* weight;  // [size]
};

}  // namespace heed::kernels
