#include <algorithm>

#include "heed/attention_pooling.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

/// The number of queries in a piece of work, all of one batch entry.
constexpr std::int64_t kQueries = 64;

struct Sizes {
  std::int64_t B, L, S, A, Dv;
  /// The size of rows over A in the kernel.
  std::int64_t padded;
  std::int64_t blocks() const { return ops::divide_up(L, kQueries); }
  std::int64_t pieces() const { return B * blocks(); }
  double operations() const {
    constexpr double kOperations = 30.0;  // of a tanh
    return kOperations * static_cast<double>(B * L) * static_cast<double>(S * A);
  }
};

Sizes sizes_of(Context& context, const TensorView& q, const TensorView& k, const TensorView& v,
               const TensorView& weight) {
  ops::require_floats("q", q, 3);
  ops::require_floats("k", k, 3);
  ops::require_floats("v", v, 3);
  Sizes s{q.shape()[0], q.shape()[1], k.shape()[1], q.shape()[2], v.shape()[2], 0};
  ops::require_shape("k", k, {s.B, s.S, s.A});
  ops::require_shape("v", v, {s.B, s.S, s.Dv});
  ops::require_floats("weight", weight, Shape{s.A});
  s.padded = ops::round_up(s.A, context.runtime().kernels().panel);
  return s;
}

void pad(const float* rows, std::int64_t count, const Sizes& s, float* out) {
  for (std::int64_t row = 0; row < count; ++row, rows += s.A, out += s.padded)
    std::fill(std::copy_n(rows, s.A, out), out + s.padded, 0.0f);
}

/// Returns the arguments of the kernel for a piece. If rows need padding, they are copied to
/// scratch memory of the thread.
class Tiles {
 public:
  Tiles(const Sizes& s, const TensorView& q, const TensorView& k, const TensorView& v,
        const TensorView& weight, int threads, Arena::Scope& scratch)
      : s_(s),
        q_(q.data<float>().data()),
        k_(k.data<float>().data()),
        v_(v.data<float>().data()),
        weight_(weight.data<float>().data()) {
    if (s.padded == s.A) return;
    float* const padded = scratch.take<float>(s.padded);
    pad(weight_, 1, s, padded);
    weight_ = padded;
    rows_ = scratch.take<float>(thread_size() * threads);
  }

  static std::int64_t first_query(const Sizes& s, std::int64_t piece) {
    return piece % s.blocks() * kQueries;
  }

  kernels::AdditiveTile operator()(std::int64_t piece, int thread) const {
    const std::int64_t b = piece / s_.blocks();
    const std::int64_t first = first_query(s_, piece);
    const std::int64_t queries = std::min(kQueries, s_.L - first);
    const float* q = q_ + (b * s_.L + first) * s_.A;
    const float* k = k_ + b * s_.S * s_.A;
    if (rows_) {
      float* const rows = rows_ + thread * thread_size();
      pad(q, queries, s_, rows);
      pad(k, s_.S, s_, rows + kQueries * s_.padded);
      q = rows;
      k = rows + kQueries * s_.padded;
    }
    return {q, k, v_ + b * s_.S * s_.Dv, weight_, queries, s_.S, s_.padded, s_.Dv};
  }

 private:
  std::int64_t thread_size() const { return (kQueries + s_.S) * s_.padded; }

  const Sizes& s_;
  const float* q_;
  const float* k_;
  const float* v_;
  const float* weight_;
  float* rows_ = nullptr;
};

/// The sum of one number of `count` pieces, which are `stride` numbers apart, in double.
float sum_pieces(const float* first, std::int64_t count, std::int64_t stride) {
  double total = 0.0;
  for (std::int64_t piece = 0; piece < count; ++piece)
    total += static_cast<double>(first[piece * stride]);
  return static_cast<float>(total);
}

/// Writes the sums of the pieces of each batch entry, in their order. The pieces have rows
/// [S, stride], and the gradient has rows [S, size]. Both are the same if an entry is one piece.
void add_pieces(Context::Runtime& runtime, const Sizes& s, const float* pieces, std::int64_t stride,
                std::int64_t size, float* gradient) {
  if (pieces == gradient) return;
  runtime.pool().run(s.B, s.operations(), [&](std::int64_t b, int) {
    for (std::int64_t j = 0; j < s.S; ++j)
      for (std::int64_t c = 0; c < size; ++c)
        gradient[(b * s.S + j) * size + c] =
            sum_pieces(pieces + (b * s.blocks() * s.S + j) * stride + c, s.blocks(), s.S * stride);
  });
}

}  // namespace

AdditiveAttentionResult additive_attention(Context& context, const TensorView& q,
                                           const TensorView& k, const TensorView& v,
                                           const TensorView& weight,
                                           const std::optional<TensorView>& key_mask) {
  const Sizes s = sizes_of(context, q, k, v, weight);
  if (key_mask) ops::require_array("key_mask", *key_mask, DType::kBool, {s.B, s.S});
  const bool* const allowed = key_mask ? key_mask->data<bool>().data() : nullptr;
  AdditiveAttentionResult result{Tensor(Shape{s.B, s.L, s.Dv}), Tensor(Shape{s.B, s.L, s.S})};
  float* const output = result.output.data().data();
  float* const weights = result.weights.data().data();
  if (result.output.shape().elements() == 0 && result.weights.shape().elements() == 0)
    return result;
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const Tiles tiles(s, q, k, v, weight, runtime.pool().threads(), scratch);
  runtime.pool().run(s.pieces(), s.operations(), [&](std::int64_t piece, int thread) {
    const std::int64_t b = piece / s.blocks();
    const std::int64_t row = b * s.L + Tiles::first_query(s, piece);
    runtime.kernels().attention.additive_attention(tiles(piece, thread),
                                                   allowed ? allowed + b * s.S : nullptr,
                                                   weights + row * s.S, output + row * s.Dv);
  });
  return result;
}

AdditiveAttentionGradients additive_attention_backward(Context& context, const TensorView& d_output,
                                                       const std::optional<TensorView>& d_weights,
                                                       const TensorView& q, const TensorView& k,
                                                       const TensorView& v,
                                                       const TensorView& weight,
                                                       const TensorView& weights) {
  const Sizes s = sizes_of(context, q, k, v, weight);
  ops::require_floats("d_output", d_output, Shape{s.B, s.L, s.Dv});
  ops::require_floats("weights", weights, Shape{s.B, s.L, s.S});
  if (d_weights) ops::require_floats("d_weights", *d_weights, weights.shape());
  AdditiveAttentionGradients result{Tensor(q.shape()), Tensor(k.shape()), Tensor(v.shape()),
                                    Tensor(weight.shape())};
  if (weights.shape().elements() == 0) {
    // No query has a key.
    for (Tensor* const gradient : {&result.q, &result.k, &result.v, &result.weight})
      std::ranges::fill(gradient->data(), 0.0f);
    return result;
  }
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const int threads = runtime.pool().threads();
  const Tiles tiles(s, q, k, v, weight, threads, scratch);
  // Each piece has its own sums, which are added in the order of the pieces. If a batch entry is
  // one piece, its sums are written to the gradients directly, unless they are padded.
  const std::int64_t k_size = s.S * s.padded, v_size = s.S * s.Dv;
  const bool is_one = s.blocks() == 1;
  float* const k_sums =
      is_one && s.padded == s.A ? result.k.data().data() : scratch.take<float>(s.pieces() * k_size);
  float* const v_sums = is_one ? result.v.data().data() : scratch.take<float>(s.pieces() * v_size);
  float* const weight_sums = scratch.take<float>(s.pieces() * s.padded);
  const std::int64_t own_size = s.S + kQueries * s.padded;
  float* const own = scratch.take<float>(own_size * threads);
  runtime.pool().run(s.pieces(), s.operations(), [&](std::int64_t piece, int thread) {
    const std::int64_t row = piece / s.blocks() * s.L + Tiles::first_query(s, piece);
    float* const d_q = own + thread * own_size + s.S;
    const kernels::AdditiveTile tile = tiles(piece, thread);
    const kernels::AdditiveGradients gradients = {
        .weights = weights.data<float>().data() + row * s.S,
        .d_weights = d_weights ? d_weights->data<float>().data() + row * s.S : nullptr,
        .d_output = d_output.data<float>().data() + row * s.Dv,
        .d_scores = own + thread * own_size,
        .q = d_q,
        .k = k_sums + piece * k_size,
        .v = v_sums + piece * v_size,
        .weight = weight_sums + piece * s.padded,
    };
    std::fill_n(gradients.k, k_size, 0.0f);
    std::fill_n(gradients.v, v_size, 0.0f);
    std::fill_n(gradients.weight, s.padded, 0.0f);
    runtime.kernels().attention.additive_attention_backward(tile, gradients);
    for (std::int64_t i = 0; i < tile.queries; ++i)
      std::copy_n(d_q + i * s.padded, s.A, result.q.data().data() + (row + i) * s.A);
  });
  add_pieces(runtime, s, k_sums, s.padded, s.A, result.k.data().data());
  add_pieces(runtime, s, v_sums, s.Dv, s.Dv, result.v.data().data());
  for (std::int64_t a = 0; a < s.A; ++a)
    result.weight.data().data()[a] = sum_pieces(weight_sums + a, s.pieces(), s.padded);
  return result;
}

}  // namespace heed
