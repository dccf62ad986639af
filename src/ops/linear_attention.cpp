#include <algorithm>
#include <cmath>

#include "ops/attention_problem.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using ops::AttentionProblem;
using ops::Layout;

/// An array with one row of `size` numbers for every key: [B, G, L, size] or [B, L, G*size].
Layout row_layout(const AttentionProblem& p, bool has_joined_heads, std::int64_t size) {
  if (has_joined_heads) return {p.L * p.G * size, size, p.G * size};
  return {p.G * p.L * size, p.L * size, size};
}

Shape row_shape(const AttentionProblem& p, bool has_joined_heads, std::int64_t size) {
  if (has_joined_heads) return {p.B, p.L, p.G * size};
  return {p.B, p.G, p.L, size};
}

/// The same for one number a key, where separate heads need no last axis.
Shape single_shape(const AttentionProblem& p, bool has_joined_heads) {
  return has_joined_heads ? Shape{p.B, p.L, p.G} : Shape{p.B, p.G, p.L};
}

void require_presence(std::string_view argument, const std::optional<TensorView>& given,
                      bool is_wanted) {
  if (given.has_value() != is_wanted)
    throw OptionError(argument, is_wanted ? "a tensor, for this rule" : "none, for this rule",
                      is_wanted ? "nothing" : "a tensor");
}

}  // namespace

LinearAttentionResult linear_attention(Context& context, const TensorView& q, const TensorView& k,
                                       const TensorView& v, const LinearAttentionOptions& options) {
  AttentionOptions shapes;
  shapes.heads = options.heads;
  shapes.kv_heads = options.kv_heads;
  shapes.scale = options.scale;
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const AttentionProblem p(q, k, v, shapes, scratch);
  if (p.S != p.L)
    throw ShapeError("k", "as many keys as queries, " + std::to_string(p.L), std::to_string(p.S));
  const bool has_joined_heads = q.shape().rank() == 3;
  const bool is_gated =
      options.rule == LinearRule::kGated || options.rule == LinearRule::kGatedDelta;
  const bool is_delta =
      options.rule == LinearRule::kDelta || options.rule == LinearRule::kGatedDelta;
  require_presence("decay", options.decay, is_gated);
  require_presence("beta", options.beta, is_delta);
  std::int64_t decay_size = 1;
  if (options.decay) {
    const Shape single = single_shape(p, has_joined_heads);
    const bool is_single = options.decay->shape() == single;
    if (!is_single) decay_size = p.D;
    ops::require_floats("decay", *options.decay,
                        is_single ? single : row_shape(p, has_joined_heads, p.D));
  }
  if (options.beta) ops::require_floats("beta", *options.beta, single_shape(p, has_joined_heads));
  const Shape state_shape{p.B, p.G, p.D, p.Dv};
  if (options.past_state) ops::require_floats("past_state", *options.past_state, state_shape);

  LinearAttentionResult result{Tensor(p.output_shape), Tensor(state_shape)};
  const auto state = result.present_state.data();
  if (options.past_state)
    std::ranges::copy(options.past_state->data<float>(), state.begin());
  else
    std::ranges::fill(state, 0.0f);

  float* const rows = scratch.take<float>(runtime.pool().threads() * p.Dv);
  const auto pointer = [](const std::optional<TensorView>& view) {
    return view ? view->data<float>().data() : nullptr;
  };
  const float* const decay = pointer(options.decay);
  const float* const beta = pointer(options.beta);
  const Layout decay_layout = row_layout(p, has_joined_heads, decay_size);
  const Layout beta_layout = row_layout(p, has_joined_heads, 1);
  const std::int64_t group = p.G == 0 ? 0 : p.H / p.G;
  const double operations = 2.0 * static_cast<double>(p.B * p.L) * static_cast<double>(p.D * p.Dv) *
                            static_cast<double>(p.H + 2 * p.G);
  const float* const q_data = q.data<float>().data();
  const float* const k_data = k.data<float>().data();
  const float* const v_data = v.data<float>().data();
  float* const output = result.output.data().data();
  runtime.pool().run(p.B * p.G, operations < ops::kWorthSharing,
                     [&](std::int64_t piece, int thread) {
                       const std::int64_t b = piece / p.G;
                       const std::int64_t g = piece % p.G;
                       runtime.kernels().linear_attention({
                           .tokens = p.L,
                           .head_size = p.D,
                           .value_size = p.Dv,
                           .query_heads = static_cast<int>(group),
                           .scale = p.scale,
                           .q = p.q_layout.at(q_data, b, g * group, 0),
                           .q_head_stride = p.q_layout.head,
                           .q_stride = p.q_layout.row,
                           .k = p.k_layout.at(k_data, b, g, 0),
                           .k_stride = p.k_layout.row,
                           .v = p.v_layout.at(v_data, b, g, 0),
                           .v_stride = p.v_layout.row,
                           .decay = decay ? decay_layout.at(decay, b, g, 0) : nullptr,
                           .decay_stride = decay_layout.row,
                           .decay_size = decay_size,
                           .beta = beta ? beta_layout.at(beta, b, g, 0) : nullptr,
                           .beta_stride = beta_layout.row,
                           .state = state.data() + piece * p.D * p.Dv,
                           .output = p.output_layout.at(output, b, g * group, 0),
                           .output_head_stride = p.output_layout.head,
                           .output_stride = p.output_layout.row,
                           .scratch = rows + thread * p.Dv,
                       });
                     });
  return result;
}

}  // namespace heed
