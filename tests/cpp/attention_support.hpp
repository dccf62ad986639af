#pragma once

#include "reference/attention.hpp"
#include "support.hpp"

namespace heed::test {

struct Inputs {
  Tensor q;
  Tensor k;
  Tensor v;
};

/// q, k, v for B, H, G, L, S, D, Dv. Entries lie in [-1, 1): with the scale 1/sqrt(D) scores stay
/// within a few units, where a float32 softmax is good to about 1e-6.
inline Inputs random_inputs(Random& random, std::int64_t B, std::int64_t H, std::int64_t G,
                            std::int64_t L, std::int64_t S, std::int64_t D, std::int64_t Dv) {
  Inputs inputs;
  inputs.q = random.reals({B, H, L, D});
  inputs.k = random.reals({B, G, S, D});
  inputs.v = random.reals({B, G, S, Dv});
  return inputs;
}

inline AttentionOptions with_everything(AttentionOptions options) {
  options.need_weights = true;
  options.need_lse = true;
  options.capture_scores = true;
  options.capture_masked = true;
  return options;
}

/// Every result, and the output once more on the path that keeps no weights.
inline void expect_reference(Context& context, const TensorView& q, const TensorView& k,
                             const TensorView& v, const AttentionOptions& options,
                             const Tolerance& tolerance = {}) {
  const reference::AttentionResult want = reference::attention(q, k, v, options);
  const AttentionResult all = attention(context, q, k, v, with_everything(options));
  EXPECT_TRUE(close(all.output, want.output, tolerance)) << "output beside weights";
  EXPECT_TRUE(close(all.weights, want.weights, tolerance)) << "weights";
  EXPECT_TRUE(close(all.lse, want.lse, tolerance)) << "lse";
  EXPECT_TRUE(close(all.scores, want.scores, tolerance)) << "scores";
  EXPECT_TRUE(close(all.masked, want.masked, tolerance)) << "masked scores";

  AttentionOptions lean = options;
  lean.need_lse = true;
  const AttentionResult few = attention(context, q, k, v, lean);
  EXPECT_TRUE(close(few.output, want.output, tolerance)) << "output alone";
  EXPECT_TRUE(close(few.lse, want.lse, tolerance)) << "lse alone";
}

inline void expect_reference(Context& context, const Inputs& inputs,
                             const AttentionOptions& options = {},
                             const Tolerance& tolerance = {}) {
  expect_reference(context, inputs.q, inputs.k, inputs.v, options, tolerance);
}

}  // namespace heed::test
