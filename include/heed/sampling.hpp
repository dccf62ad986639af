#pragma once

// From logits to tokens.

#include <cstdint>

#include "heed/context.hpp"
#include "heed/tensor.hpp"

namespace heed {

/// The results of top_k.
struct TopKResult {
  /// [..., k], in descending order; equal numbers in ascending order of their indices
  Tensor values;
  /// int32 [..., k]
  Tensor indices;
};

/// The k largest numbers of each row. x [..., N]. NaN counts as the least. Throws ShapeError,
/// DTypeError, OptionError for a k outside [1, N].
TopKResult top_k(Context& context, const TensorView& x, std::int64_t k);

/// Options of sample.
struct SampleOptions {
  /// The divisor of the logits; 0 takes the largest logit.
  float temperature = 1.0f;
  /// Draw from the k likeliest tokens only; 0 means all (Fan et al., 2018).
  std::int64_t top_k = 0;
  /// Draw from the fewest likeliest tokens whose probabilities together reach p (Holtzman et al.,
  /// 2020).
  float top_p = 1.0f;
  std::uint64_t seed = 0;
};

/// A token for each row of logits [..., V] -> int32 [...]. The token of row r depends on its
/// logits, the options and r alone. Throws ShapeError, DTypeError, OptionError. OptionError also
/// for a row that has NaN or only -inf.
Tensor sample(Context& context, const TensorView& logits, const SampleOptions& options = {});

}  // namespace heed
