#include <algorithm>
#include <array>
#include <limits>

#include "heed/heed.hpp"
#include "ops/attention/mask.hpp"
#include "ops/product/product.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

struct Projection {
  TensorView weight;
  std::optional<TensorView> bias;
};

/// Rows [part * E, (part + 1) * E) of an array of 3E rows.
TensorView third(const TensorView& x, int part, std::int64_t E) {
  const Shape& shape = x.shape();
  const std::int64_t row = shape.rank() == 2 ? shape[1] : 1;
  return {x.data<float>().data() + part * E * row,
          shape.rank() == 2 ? Shape{E, shape[1]} : Shape{E}};
}

/// The projection of the query (part 0), key (1) or value (2).
Projection input_projection(const MultiHeadAttentionParameters& parameters, int part,
                            std::int64_t E, const TensorView& input) {
  static constexpr const char* kNames[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  const std::optional<TensorView>* const separate[] = {
      &parameters.q_proj_weight, &parameters.k_proj_weight, &parameters.v_proj_weight};
  std::optional<TensorView> bias;
  if (parameters.in_proj_bias) {
    ops::require_floats("in_proj_bias", *parameters.in_proj_bias, Shape{3 * E});
    bias = third(*parameters.in_proj_bias, part, E);
  }
  if (parameters.in_proj_weight) {
    if (*separate[part])
      ops::refuse<OptionError>(kNames[part], "nothing beside in_proj_weight", "a tensor");
    ops::require_floats("in_proj_weight", *parameters.in_proj_weight, Shape{3 * E, E});
    return {third(*parameters.in_proj_weight, part, E), bias};
  }
  if (!*separate[part])
    ops::refuse<OptionError>(kNames[part], "a tensor, because in_proj_weight is left out",
                             "nothing");
  ops::require_floats(kNames[part], **separate[part], Shape{E, input.shape()[2]});
  return {**separate[part], bias};
}

/// Checks all arguments except the mask, and returns the projections of query, key and value.
std::array<Projection, 3> validated(const TensorView& query, const TensorView& key,
                                    const TensorView& value,
                                    const MultiHeadAttentionParameters& parameters,
                                    const MultiHeadAttentionOptions& options) {
  ops::require_floats("query", query, 3);
  ops::require_floats("key", key, 3);
  ops::require_floats("value", value, 3);
  const std::int64_t B = query.shape()[0];
  const std::int64_t E = query.shape()[2];
  const std::int64_t S = key.shape()[1];
  ops::require_shape("key", key, Shape{B, S, parameters.in_proj_weight ? E : key.shape()[2]});
  ops::require_shape("value", value, Shape{B, S, parameters.in_proj_weight ? E : value.shape()[2]});
  if (options.heads < 1 || E % options.heads != 0)
    ops::refuse<OptionError>("heads", {"a divisor of the embedding size ", E}, options.heads);
  if (options.key_mask) ops::require_array("key_mask", *options.key_mask, DType::kBool, {B, S});
  if (!parameters.out_proj_weight)
    ops::refuse<OptionError>("out_proj_weight", "a tensor", "nothing");
  ops::require_floats("out_proj_weight", *parameters.out_proj_weight, Shape{E, E});
  if (parameters.out_proj_bias)
    ops::require_floats("out_proj_bias", *parameters.out_proj_bias, Shape{E});
  return {input_projection(parameters, 0, E, query), input_projection(parameters, 1, E, key),
          input_projection(parameters, 2, E, value)};
}

/// A mask and a key mask in one: a key is hidden if either hides it. T is the mask's element type.
template <class T>
Tensor intersect(const TensorView& mask, const TensorView& key_mask, const Shape& full, T hidden) {
  const ops::PairArray<T> spread("mask", mask, full);
  const std::int64_t B = full[0], S = full[3];
  // The result has the axes of heads and queries of the mask, which may be 1.
  const auto own = [&](int axis) { return mask.shape().rank() >= -axis ? mask.shape()[axis] : 1; };
  const std::int64_t heads = own(-3), rows = own(-2);
  const std::int64_t reach = std::min(S, spread.reach());
  Tensor both(Shape{B, heads, rows, S}, mask.dtype());
  if (both.shape().elements() == 0) return both;
  T* out = reinterpret_cast<T*>(ops::mutable_bytes(both));
  const bool* const keep = key_mask.data<bool>().data();
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      const kernels::PairSlice<T> slice = spread.slice(b, h);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < S; ++j)
          *out++ = keep[b * S + j] && j < reach
                       ? slice.data[i * slice.row_stride + j * slice.column_stride]
                       : hidden;
    }
  return both;
}

Tensor intersect(const TensorView& mask, const TensorView& key_mask, const Shape& full) {
  if (mask.dtype() == DType::kBool) return intersect<std::uint8_t>(mask, key_mask, full, 0);
  if (mask.dtype() == DType::kFloat32)
    return intersect<float>(mask, key_mask, full, -std::numeric_limits<float>::infinity());
  ops::refuse<DTypeError>("mask", "bool or float32", mask.dtype());
}

/// [B, H, L, S] -> [B, L, S]
Tensor mean_over_heads(const Tensor& weights) {
  const Shape& shape = weights.shape();
  const std::int64_t B = shape[0], H = shape[1], pairs = shape[2] * shape[3];
  Tensor mean(Shape{B, shape[2], shape[3]});
  if (mean.shape().elements() == 0) return mean;
  const float* from = weights.data().data();
  float* to = mean.data().data();
  for (std::int64_t b = 0; b < B; ++b, from += H * pairs, to += pairs)
    for (std::int64_t i = 0; i < pairs; ++i) {
      float sum = 0.0f;
      for (std::int64_t h = 0; h < H; ++h) sum += from[h * pairs + i];
      to[i] = sum / static_cast<float>(H);
    }
  return mean;
}

}  // namespace

MultiHeadAttentionResult multi_head_attention(Context& context, const TensorView& query,
                                              const TensorView& key, const TensorView& value,
                                              const MultiHeadAttentionParameters& parameters,
                                              const MultiHeadAttentionOptions& options) {
  const std::array<Projection, 3> projections = validated(query, key, value, parameters, options);

  AttentionOptions inner;
  inner.heads = options.heads;
  inner.is_causal = options.is_causal;
  inner.need_weights = options.need_weights;
  inner.mask = options.mask;
  Tensor both;
  if (options.key_mask) {
    const Shape& shape = options.key_mask->shape();
    if (options.mask) {
      both = intersect(*options.mask, *options.key_mask,
                       Shape{shape[0], options.heads, query.shape()[1], shape[1]});
      inner.mask = both;
    } else {
      inner.mask =
          TensorView(options.key_mask->data<bool>().data(), Shape{shape[0], 1, 1, shape[1]});
    }
  }

  // One allocation for all three: memory in smaller pieces goes back to the system after each call,
  // and then page faults take a tenth of the time.
  const TensorView* const inputs[] = {&query, &key, &value};
  const std::int64_t B = query.shape()[0], L = query.shape()[1], E = query.shape()[2];
  Tensor projected(Shape{B, L + 2 * key.shape()[1], E});
  float* next = projected.data().data();
  TensorView qkv[3];
  for (int part = 0; part < 3; ++part) {
    const TensorView& x = *inputs[part];
    const auto& [weight, bias] = projections[part];
    qkv[part] = {next, Shape{B, x.shape()[1], E}};
    const std::int64_t elements = qkv[part].shape().elements();
    ops::multiply(context.runtime(), {
                                         .rows = elements / std::max<std::int64_t>(E, 1),
                                         .columns = E,
                                         .depth = x.shape()[2],
                                         .a = x.data<float>().data(),
                                         .b = weight.data<float>().data(),
                                         .transpose_b = true,
                                         .bias = ops::data_or_null(bias),
                                         .c = next,
                                     });
    next += elements;
  }
  AttentionResult heads = attention(context, qkv[0], qkv[1], qkv[2], inner);

  MultiHeadAttentionResult result;
  result.output =
      linear(context, heads.output, *parameters.out_proj_weight, parameters.out_proj_bias);
  if (options.need_weights)
    result.weights =
        options.average_weights ? mean_over_heads(*heads.weights) : std::move(*heads.weights);
  return result;
}

void check_multi_head_attention(const TensorView& query, const TensorView& key,
                                const TensorView& value,
                                const MultiHeadAttentionParameters& parameters,
                                const MultiHeadAttentionOptions& options) {
  validated(query, key, value, parameters, options);
}

}  // namespace heed
