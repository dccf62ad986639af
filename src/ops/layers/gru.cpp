#include <algorithm>

#include "heed/layers.hpp"
#include "ops/product/packed_weights.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

/// The number of sequences in a piece of work: enough to outweigh reading the weights from the
/// second-level cache in every step.
constexpr std::int64_t kSequences = 16;

/// The arguments that forward and backward share, checked.
struct GruProblem {
  GruProblem(Context& context, const TensorView& x, const GruParameters& parameters,
             const GruOptions& options)
      : runtime(context.runtime()) {
    ops::require_floats("x", x, 3);
    B = x.shape()[0];
    L = x.shape()[1];
    I = x.shape()[2];
    ops::require_floats("weight_hh", parameters.weight_hh, 2);
    size = parameters.weight_hh.shape()[1];
    ops::require_shape("weight_hh", parameters.weight_hh, {3 * size, size});
    ops::require_floats("weight_ih", parameters.weight_ih, Shape{3 * size, I});
    if (parameters.bias_ih) ops::require_floats("bias_ih", *parameters.bias_ih, Shape{3 * size});
    if (parameters.bias_hh) ops::require_floats("bias_hh", *parameters.bias_hh, Shape{3 * size});
    if (options.state) {
      ops::require_floats("state", *options.state, Shape{B, size});
      state = options.state->data<float>().data();
    }
    if (!options.lengths) return;
    ops::require_array("lengths", *options.lengths, DType::kInt32, {B});
    lengths = options.lengths->data<std::int32_t>().data();
    for (std::int64_t b = 0; b < B; ++b)
      if (lengths[b] < 0 || lengths[b] > L)
        ops::refuse<OptionError>("lengths", {"numbers from 0 to ", L}, lengths[b]);
  }

  std::int64_t length(std::int64_t b) const { return lengths ? lengths[b] : L; }
  const float* first_state(std::int64_t b) const { return state ? state + b * size : nullptr; }

  /// The number of sequences in a piece, in multiples of a register block. Scratch memory has room
  /// for this number.
  std::int64_t piece_size() const {
    return ops::round_up(std::min(kSequences, B), runtime.kernels().rows);
  }
  /// Calls work(first, count, thread) for ranges of sequences, on all threads.
  template <class Work>
  void for_pieces(const Work& work) const {
    const double operations = 6.0 * static_cast<double>(B * L) * static_cast<double>(size * size);
    const std::int64_t step = std::max<std::int64_t>(1, piece_size());
    runtime.pool().run(ops::divide_up(B, step), operations, [&](std::int64_t piece, int thread) {
      work(piece * step, std::min(step, B - piece * step), thread);
    });
  }
  /// The length of the longest of the sequences [first, first + count).
  std::int64_t longest(std::int64_t first, std::int64_t count) const {
    std::int64_t longest = 0;
    for (std::int64_t b = first; b < first + count; ++b) longest = std::max(longest, length(b));
    return longest;
  }

  /// y [rows, columns] = x W (+ bias), the rows of x a stride apart, W in panels of columns.
  void multiply(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                const float* panels, std::int64_t columns, const float* bias, float* packed,
                float* y) const {
    runtime.kernels().product.pack_left(x, static_cast<std::ptrdiff_t>(stride), rows,
                                        static_cast<std::ptrdiff_t>(depth), packed);
    runtime.kernels().product.linear({
        .x = packed,
        .rows = rows,
        .in = depth,
        .weight = panels,
        .columns = columns,
        .bias = bias,
        .y = y,
        .y_stride = static_cast<std::ptrdiff_t>(columns),
    });
  }

  Context::Runtime& runtime;
  std::int64_t B = 0, L = 0, I = 0, size = 0;
  const float* state = nullptr;
  const std::int32_t* lengths = nullptr;
};

/// Copies a row, or zeros for none.
void copy_row(const float* from, std::int64_t size, float* to) {
  if (from)
    std::copy_n(from, size, to);
  else
    std::fill_n(to, size, 0.0f);
}

struct StepGradients {
  Tensor before;             // [B, L, size] the state before every step
  Tensor d_input, d_hidden;  // [B, L, 3 size] of both products of every step
  Tensor d_first;            // [B, size] of the first state
};

/// Computes the gradients of all steps, from the last to the first.
void steps_backward(const GruProblem& p, const float* d_outputs, const float* d_last,
                    const float* weight, const float* outputs, const float* kept,
                    StepGradients& steps) {
  const std::int64_t L = p.L, size = p.size;
  const kernels::KernelTable& kernels = p.runtime.kernels();
  Arena::Scope scratch(p.runtime.arena());
  const std::int64_t columns = ops::round_up(size, kernels.panel);
  float* const panels = scratch.take<float>(columns * 3 * size);
  kernels.product.pack_columns(weight, static_cast<std::ptrdiff_t>(size), 3 * size, size,
                               static_cast<std::ptrdiff_t>(3 * size), panels);
  const std::int64_t own_size = 4 * size * p.piece_size();
  float* const own = scratch.take<float>(own_size * p.runtime.pool().threads());
  p.for_pieces([&](std::int64_t first, std::int64_t count, int thread) {
    float* const packed = own + thread * own_size;
    float* const through = packed + 3 * size * p.piece_size();
    float* const d_h = steps.d_first.data().data();
    for (std::int64_t b = first; b < first + count; ++b)
      copy_row(d_last ? d_last + b * size : nullptr, size, d_h + b * size);
    const std::int64_t end = p.longest(first, count);
    for (std::int64_t t = L - 1; t >= 0 && !p.runtime.pool().is_cancelled(); --t) {
      for (std::int64_t b = first; b < first + count; ++b) {
        const std::int64_t row = b * L + t;
        float* const state = steps.before.data().data() + row * size;
        copy_row(t == 0 ? p.first_state(b) : outputs + (row - 1) * size, size, state);
        float* const to_input = steps.d_input.data().data() + row * 3 * size;
        float* const to_hidden = steps.d_hidden.data().data() + row * 3 * size;
        if (t >= p.length(b)) {
          std::fill_n(to_input, 3 * size, 0.0f);
          std::fill_n(to_hidden, 3 * size, 0.0f);
          continue;
        }
        if (d_outputs)
          for (std::int64_t i = 0; i < size; ++i) d_h[b * size + i] += d_outputs[row * size + i];
        kernels.layers.gru_step_backward({
            .size = size,
            .gates = kept + row * 4 * size,
            .state = state,
            .d_state = d_h + b * size,
            .d_input = to_input,
            .d_hidden = to_hidden,
        });
      }
      if (t >= end) continue;
      p.multiply(steps.d_hidden.data().data() + (first * L + t) * 3 * size, L * 3 * size, count,
                 3 * size, panels, size, nullptr, packed, through);
      for (std::int64_t b = first; b < first + count; ++b)
        for (std::int64_t i = 0; t < p.length(b) && i < size; ++i)
          d_h[b * size + i] += through[(b - first) * size + i];
    }
  });
}

/// x with zeros after the end of every sequence. These numbers may be NaN and must not be
/// multiplied by zero gradients.
Tensor without_ends(const GruProblem& p, const TensorView& x) {
  Tensor clean(x.shape());
  for (std::int64_t b = 0; b < p.B; ++b) {
    const float* const from = x.data<float>().data() + b * p.L * p.I;
    float* const to = clean.data().data() + b * p.L * p.I;
    std::fill(std::copy_n(from, p.length(b) * p.I, to), to + p.L * p.I, 0.0f);
  }
  return clean;
}

}  // namespace

GruResult gru(Context& context, const TensorView& x, const GruParameters& parameters,
              const GruOptions& options) {
  const GruProblem p(context, x, parameters, options);
  const std::int64_t L = p.L, size = p.size;
  GruResult result{Tensor(Shape{p.B, L, size}), Tensor(Shape{p.B, size}), {}};
  if (options.need_gates) result.gates = Tensor(Shape{p.B, L, 4 * size});
  if (p.B == 0 || size == 0) return result;
  const Tensor input = linear(context, x, parameters.weight_ih, parameters.bias_ih);
  const PackedWeights weight(context, parameters.weight_hh);
  const float* const bias = ops::data_or_null(parameters.bias_hh);
  const float* const inputs = input.data().data();
  float* const output = result.output.data().data();
  float* const states = result.state.data().data();
  float* const gates = ops::data_or_null(result.gates);

  Arena::Scope scratch(p.runtime.arena());
  const std::int64_t own_size = 4 * size * p.piece_size();
  float* const own = scratch.take<float>(own_size * p.runtime.pool().threads());
  p.for_pieces([&](std::int64_t first, std::int64_t count, int thread) {
    float* const packed = own + thread * own_size;
    float* const hidden = packed + size * p.piece_size();
    for (std::int64_t b = first; b < first + count; ++b)
      copy_row(p.first_state(b), size, states + b * size);
    const std::int64_t end = p.longest(first, count);
    for (std::int64_t t = 0; t < L && !p.runtime.pool().is_cancelled(); ++t) {
      if (t < end)
        p.multiply(states + first * size, size, count, size, weight.panels().floats, 3 * size, bias,
                   packed, hidden);
      for (std::int64_t b = first; b < first + count; ++b) {
        const std::int64_t row = b * L + t;
        float* const out = output + row * size;
        float* const kept = gates ? gates + row * 4 * size : nullptr;
        if (t >= p.length(b)) {
          std::fill_n(out, size, 0.0f);
          if (kept) std::fill_n(kept, 4 * size, 0.0f);
          continue;
        }
        p.runtime.kernels().layers.gru_step({
            .size = size,
            .input = inputs + row * 3 * size,
            .hidden = hidden + (b - first) * 3 * size,
            .state = states + b * size,
            .next = out,
            .gates = kept,
        });
        std::copy_n(out, size, states + b * size);
      }
    }
  });
  return result;
}

GruGradients gru_backward(Context& context, const std::optional<TensorView>& d_output,
                          const std::optional<TensorView>& d_state, const TensorView& x,
                          const GruParameters& parameters, const TensorView& output,
                          const TensorView& gates, const GruOptions& options) {
  const GruProblem p(context, x, parameters, options);
  const std::int64_t B = p.B, L = p.L, size = p.size;
  ops::require_floats("output", output, Shape{B, L, size});
  ops::require_floats("gates", gates, Shape{B, L, 4 * size});
  if (d_output) ops::require_floats("d_output", *d_output, output.shape());
  if (d_state) ops::require_floats("d_state", *d_state, Shape{B, size});

  // All steps are kept, so that the gradient of each weight is a single product.
  StepGradients steps{Tensor(Shape{B, L, size}), Tensor(Shape{B, L, 3 * size}),
                      Tensor(Shape{B, L, 3 * size}), Tensor(Shape{B, size})};
  if (B > 0 && size > 0)
    steps_backward(p, ops::data_or_null(d_output), ops::data_or_null(d_state),
                   parameters.weight_hh.data<float>().data(), output.data<float>().data(),
                   gates.data<float>().data(), steps);
  const std::optional<Tensor> clean = p.lengths ? std::optional(without_ends(p, x)) : std::nullopt;
  LinearGradients of_input =
      linear_backward(context, steps.d_input, clean ? TensorView(*clean) : x, parameters.weight_ih,
                      {.need_bias = parameters.bias_ih.has_value()});
  LinearGradients of_hidden =
      linear_backward(context, steps.d_hidden, steps.before, parameters.weight_hh,
                      {.need_x = false, .need_bias = parameters.bias_hh.has_value()});
  return {std::move(*of_input.x),       std::move(steps.d_first), std::move(*of_input.weight),
          std::move(*of_hidden.weight), std::move(of_input.bias), std::move(of_hidden.bias)};
}

}  // namespace heed
