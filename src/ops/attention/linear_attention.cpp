#include <algorithm>
#include <cmath>

#include "ops/arrays/axes.hpp"
#include "ops/attention/attention_problem.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using ops::AttentionProblem;
using ops::Layout;

/// A decay or beta: a number for each token and key/value head, or for each row of the state too. A
/// stride of 0 repeats a number.
struct Rates {
  const float* data = nullptr;
  Layout layout{};
  std::int64_t step = 0;  // between rows of the state

  const float* at(std::int64_t b, std::int64_t g) const noexcept {
    return data ? layout.at(data, b, g, 0) : nullptr;
  }
};

/// Reads an array that broadcasts to [B, G, L] or, if rates may differ between `rows` of the state,
/// to [B, G, L, rows]. With joined heads these are [B, L, G] and [B, L, G*rows].
Rates read_rates(const char* argument, const std::optional<TensorView>& given,
                 const AttentionProblem& p, std::int64_t rows) {
  if (!given) return {};
  const bool has_joined_heads = p.output_shape.rank() == 3;
  ops::require_dtype(argument, *given, DType::kFloat32);
  const Shape& shape = given->shape();
  const Shape by_head = has_joined_heads ? Shape{p.B, p.L, p.G} : Shape{p.B, p.G, p.L};
  const Shape by_row = has_joined_heads ? Shape{p.B, p.L, p.G * rows} : Shape{p.B, p.G, p.L, rows};
  const auto broadcasts_to = [&](const Shape& full) {
    if (shape.rank() != full.rank()) return false;
    for (int axis = 0; axis < full.rank(); ++axis)
      if (shape[axis] != 1 && shape[axis] != full[axis]) return false;
    return true;
  };
  const bool is_by_head = broadcasts_to(by_head);
  if (!is_by_head && !broadcasts_to(by_row)) {
    std::string expected = "a shape that broadcasts to " + to_string(by_head);
    if (rows > 1) expected += " or " + to_string(by_row);
    ops::refuse<ShapeError>(argument, expected, shape);
  }
  const auto stride = [&](int axis) {
    return shape[axis] == 1 || shape.elements() == 0 ? 0 : ops::elements_after(shape, axis);
  };
  Rates rates{given->data<float>().data(), {}, 0};
  if (!has_joined_heads) {
    rates.layout = {stride(0), stride(1), stride(2)};
    rates.step = shape.rank() == 4 ? stride(3) : 0;
  } else if (is_by_head) {
    rates.layout = {stride(0), stride(2), stride(1)};
  } else {
    rates.layout = {stride(0), rows, stride(1)};
    rates.step = 1;
  }
  return rates;
}

void require_presence(const char* argument, const std::optional<TensorView>& given,
                      bool is_wanted) {
  if (given.has_value() != is_wanted)
    ops::refuse<OptionError>(argument,
                             is_wanted ? "a tensor, for this rule" : "none, for this rule",
                             is_wanted ? "nothing" : "a tensor");
}

}  // namespace

LinearAttentionResult linear_attention(Context& context, const TensorView& q, const TensorView& k,
                                       const TensorView& v, const LinearAttentionOptions& options) {
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  AttentionOptions shapes;
  shapes.heads = options.heads;
  shapes.kv_heads = options.kv_heads;
  shapes.scale = options.scale;
  const AttentionProblem p(q, k, v, shapes, scratch);
  if (p.S != p.L) ops::refuse<ShapeError>("k", {"as many keys as queries, ", p.L}, p.S);
  const bool has_both = options.rule == LinearRule::kGatedDelta;
  require_presence("decay", options.decay, has_both || options.rule == LinearRule::kGated);
  require_presence("beta", options.beta, has_both || options.rule == LinearRule::kDelta);
  const Rates decay = read_rates("decay", options.decay, p, p.D);
  const Rates beta = read_rates("beta", options.beta, p, 1);
  const Shape state_shape{p.B, p.G, p.D, p.Dv};
  if (options.past_state) ops::require_floats("past_state", *options.past_state, state_shape);

  LinearAttentionResult result{Tensor(p.output_shape), Tensor(state_shape)};
  const auto state = result.present_state.data();
  if (state.empty() && result.output.shape().elements() == 0) return result;
  if (options.past_state)
    std::ranges::copy(options.past_state->data<float>(), state.begin());
  else
    std::ranges::fill(state, 0.0f);
  float* const rows = scratch.take<float>(runtime.pool().threads() * p.Dv);
  const std::int64_t group = p.G == 0 ? 0 : p.H / p.G;
  const double operations = 2.0 * static_cast<double>(p.B * p.L) * static_cast<double>(p.D * p.Dv) *
                            static_cast<double>(p.H + 2 * p.G);
  float* const output = result.output.data().data();
  runtime.pool().run(p.B * p.G, operations, [&](std::int64_t piece, int thread) {
    const std::int64_t b = piece / p.G, g = piece % p.G;
    runtime.kernels().attention.linear_attention({
        .tokens = p.L,
        .head_size = p.D,
        .value_size = p.Dv,
        .query_heads = static_cast<int>(group),
        .scale = p.scale,
        .q = p.q_layout.at(q.data<float>().data(), b, g * group, 0),
        .q_head_stride = p.q_layout.head,
        .q_stride = p.q_layout.row,
        .k = p.k_layout.at(k.data<float>().data(), b, g, 0),
        .k_stride = p.k_layout.row,
        .v = p.v_layout.at(v.data<float>().data(), b, g, 0),
        .v_stride = p.v_layout.row,
        .decay = decay.at(b, g),
        .decay_stride = decay.layout.row,
        .decay_step = decay.step,
        .beta = beta.at(b, g),
        .beta_stride = beta.layout.row,
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
