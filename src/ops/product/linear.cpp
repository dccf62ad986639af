#include <algorithm>
#include <atomic>

#include "heed/heed.hpp"
#include "ops/arrays/sums.hpp"
#include "ops/product/packed_weights.hpp"
#include "ops/product/product.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

void require_last_of(const TensorView& x, const Shape& weight) {
  if (x.shape().rank() < 1) ops::refuse<ShapeError>("x", "rank 1 or more", x.shape());
  if (x.shape()[-1] != weight[1])
    ops::refuse<ShapeError>(
        "x",
        "a last axis of " + std::to_string(weight[1]) + ", as weight " + to_string(weight) + " has",
        x.shape());
}

/// Checks the arguments, and multiplies x by the right factor of `product`, a weight of this shape.
Tensor linear(Context& context, const TensorView& x, const Shape& weight,
              const std::optional<TensorView>& bias, Activation activation, ops::Product product) {
  ops::require_dtype("x", x, DType::kFloat32);
  require_last_of(x, weight);
  if (bias) ops::require_floats("bias", *bias, Shape{weight[0]});
  Tensor y(ops::with_last(x.shape(), weight[0]));
  product.columns = weight[0];
  product.depth = weight[1];
  product.rows = y.shape().elements() / std::max<std::int64_t>(product.columns, 1);
  product.a = x.data<float>().data();
  product.bias = ops::data_or_null(bias);
  product.activation = activation;
  product.c = y.data().data();
  ops::multiply(context.runtime(), product);
  return y;
}

}  // namespace

Tensor linear(Context& context, const TensorView& x, const TensorView& weight,
              const std::optional<TensorView>& bias, Activation activation) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_floats_or_halves("weight", weight, 2);
  const std::uint16_t* const halves = ops::halves_of(weight);
  const float* const floats = halves ? nullptr : weight.data<float>().data();
  return linear(context, x, weight.shape(), bias, activation,
                {.b = floats, .transpose_b = true, .halves = halves});
}

Tensor linear(Context& context, const TensorView& x, const PackedWeights& weight,
              const std::optional<TensorView>& bias, Activation activation) {
  const PackedWeights::Panels& w = weight.panels();
  if (w.isa != context.isa())
    ops::refuse<OptionError>("weight", "weights packed for " + std::string(context.isa()),
                             "weights packed for " + std::string(w.isa));
  return linear(context, x, w.shape, bias, activation, {.packed = &w});
}

LinearGradients linear_backward(Context& context, const TensorView& d_output, const TensorView& x,
                                const TensorView& weight, const LinearGradientOptions& options) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_floats("weight", weight, 2);
  require_last_of(x, weight.shape());
  const std::int64_t out = weight.shape()[0];
  const std::int64_t in = weight.shape()[1];
  ops::require_floats("d_output", d_output, ops::with_last(x.shape(), out));
  LinearGradients gradients;
  if (options.need_x) gradients.x = Tensor(x.shape());
  if (options.need_weight) gradients.weight = Tensor(weight.shape());
  if (options.need_bias) gradients.bias = Tensor(Shape{out});
  // A quotient of two counts does not overflow; a product of sizes may, if another size is 0.
  const std::int64_t rows = in > 0    ? x.shape().elements() / in
                            : out > 0 ? d_output.shape().elements() / out
                                      : 0;
  const float* const dy = d_output.data<float>().data();
  Context::Runtime& runtime = context.runtime();
  if (gradients.x)
    ops::multiply(runtime, {
                               .rows = rows,
                               .columns = in,
                               .depth = out,
                               .a = dy,
                               .b = weight.data<float>().data(),
                               .c = gradients.x->data().data(),
                           });
  if (gradients.weight)
    ops::multiply(runtime, {
                               .rows = out,
                               .columns = in,
                               .depth = rows,
                               .a = dy,
                               .transpose_a = true,
                               .b = x.data<float>().data(),
                               .c = gradients.weight->data().data(),
                           });
  if (gradients.bias) ops::sum_rows(runtime, dy, 1, rows, out, gradients.bias->data().data());
  return gradients;
}

PackedWeights::PackedWeights(Context& context, const TensorView& weight, Format format) {
  ops::require_floats("weight", weight, 2);
  Context::Runtime& runtime = context.runtime();
  const kernels::KernelTable& kernels = runtime.kernels();
  const std::int64_t out = weight.shape()[0];
  const std::int64_t in = weight.shape()[1];
  const std::int64_t columns = ops::round_up(out, kernels.panel);
  const bool is_int8 = format == Format::kInt8, is_int4 = format == Format::kInt4;
  if (is_int8 && in > kernels::kMaxByteDepth)
    ops::refuse<ShapeError>(
        "weight", "at most " + std::to_string(kernels::kMaxByteDepth) + " columns for int8",
        weight.shape());
  const std::int64_t nibble_column = kernels::nibble_groups(in) * kernels::kNibbleColumn;
  const std::size_t numbers = is_int8   ? bytes_of(columns * kernels::byte_depth(in), 1)
                              : is_int4 ? bytes_of(columns * nibble_column, 1)
                                        : bytes_of(columns * in, 4);
  const std::size_t scales = is_int8 ? bytes_of(columns, sizeof(float)) : 0;
  const std::size_t bytes = numbers + 2 * scales;
  panels_ = std::make_unique<Panels>(
      Panels{weight.shape(), format, kernels.isa, bytes, Memory(allocate(bytes))});
  Panels& panels = *panels_;
  std::byte* const memory = panels.memory.get();
  if (is_int8) {
    panels.integers = reinterpret_cast<std::int8_t*>(memory);
    panels.scales = reinterpret_cast<float*>(memory + numbers);
    panels.sums = reinterpret_cast<float*>(memory + numbers + scales);
  } else if (is_int4) {
    panels.nibbles = reinterpret_cast<std::uint8_t*>(memory);
  } else {
    panels.floats = reinterpret_cast<float*>(memory);
  }

  if (bytes == 0) return;
  const float* const w = weight.data<float>().data();
  const std::int64_t step = 4 * kernels.panel;
  const double operations = static_cast<double>(out) * static_cast<double>(in);
  std::atomic<bool> fits = true;
  runtime.pool().run(ops::divide_up(out, step), operations, [&](std::int64_t piece, int) {
    const std::int64_t first = piece * step;
    const std::int64_t count = std::min(step, out - first);
    if (is_int4) {
      if (!kernels.product.quantise_nibble_weight(w + first * in, count, in,
                                                  panels.nibbles + first * nibble_column))
        fits = false;
    } else if (is_int8)
      kernels.product.quantise_weight(w + first * in, count, in,
                                      panels.integers + first * kernels::byte_depth(in),
                                      panels.scales + first, panels.sums + first);
    else
      kernels.product.pack_rows(w + first * in, static_cast<std::ptrdiff_t>(in), count,
                                static_cast<std::ptrdiff_t>(in), panels.floats + first * in);
  });
  if (!fits)
    ops::refuse<OptionError>("weight", "finite numbers with magnitudes below 524,160 for int4",
                             "other numbers");
}

PackedWeights::~PackedWeights() = default;
PackedWeights::PackedWeights(PackedWeights&&) noexcept = default;
PackedWeights& PackedWeights::operator=(PackedWeights&&) noexcept = default;

const Shape& PackedWeights::shape() const noexcept { return panels_->shape; }
PackedWeights::Format PackedWeights::format() const noexcept { return panels_->format; }
std::size_t PackedWeights::bytes() const noexcept { return panels_->bytes; }

}  // namespace heed
