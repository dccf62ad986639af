#include <algorithm>

#include "heed/heed.hpp"
#include "ops/packed_weights.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using kernels::KernelTable;

/// The rows of x that are packed at a time, and the rows and columns of a piece of work: each piece
/// packs its columns of W, unless they are, for all its rows; 4 panels of W and a stretch of x
/// (kernels/linear.hpp) fit the second-level cache.
constexpr std::int64_t kRowsAtATime = 2048;
constexpr std::int64_t kRowTile = 512;
constexpr std::int64_t kColumnTile = 32;
/// Up to so many rows W is read where it lies: packing it for fewer than 8 takes longer.
constexpr std::int64_t kRowsInPlace = 6;

kernels::Activation for_kernel(Activation activation) {
  static_assert(static_cast<int>(Activation::kSigmoid) ==
                static_cast<int>(kernels::Activation::kSigmoid));
  return static_cast<kernels::Activation>(activation);
}

/// y = activation(x W^T + bias), checked and allocated.
struct Layer {
  Context::Runtime& runtime;
  const float* x;
  const float* bias;
  Activation activation;
  float* y;
  std::int64_t rows, in, out;
  bool alone;

  const KernelTable& kernels() const { return runtime.kernels(); }

  /// The length of equal pieces, none longer than `most` but for rounding up to whole multiples.
  static std::int64_t even_step(std::int64_t count, std::int64_t most, std::int64_t multiple) {
    const std::int64_t pieces = std::max<std::int64_t>(1, ops::divide_up(count, most));
    return ops::divide_up(ops::divide_up(count, pieces), multiple) * multiple;
  }

  /// Calls part(first_row, rows) for parts of x that are packed one after the other.
  template <class Part>
  void for_parts(const Part& part) const {
    const std::int64_t step =
        std::max<std::int64_t>(1, even_step(rows, kRowsAtATime, kernels().rows));
    for (std::int64_t row = 0; row < rows; row += step) part(row, std::min(step, rows - row));
  }

  /// Calls pack(first, count) for stretches of some rows, shared out.
  template <class Pack>
  void pack_rows(std::int64_t count, const Pack& pack) const {
    const std::int64_t step = ops::divide_up(kRowTile / 8, kernels().rows) * kernels().rows;
    runtime.pool().run(ops::divide_up(count, step), alone, [&](std::int64_t piece, int) {
      pack(piece * step, std::min(step, count - piece * step));
    });
  }

  /// Calls tile(row, rows, column, columns, thread) for the tiles of some rows, shared out.
  template <class Tile>
  void for_tiles(std::int64_t count, const Tile& tile) const {
    const std::int64_t step = std::max<std::int64_t>(1, even_step(count, kRowTile, kernels().rows));
    const std::int64_t column_tiles = ops::divide_up(out, column_step());
    runtime.pool().run(ops::divide_up(count, step) * column_tiles, alone,
                       [&](std::int64_t piece, int thread) {
                         const std::int64_t row = piece / column_tiles * step;
                         const std::int64_t column = piece % column_tiles * column_step();
                         tile(row, std::min(step, count - row), column,
                              std::min(column_step(), out - column), thread);
                       });
  }

  std::int64_t column_step() const { return std::max<std::int64_t>(kColumnTile, kernels().panel); }
};

void multiply_in_place(const Layer& l, const float* weight) {
  const std::int64_t step = l.kernels().panel;
  l.runtime.pool().run(ops::divide_up(l.out, step), l.alone, [&](std::int64_t piece, int) {
    const std::int64_t column = piece * step;
    l.kernels().linear_in_place({
        .x = l.x,
        .rows = l.rows,
        .in = l.in,
        .weight = weight + column * l.in,
        .columns = std::min(step, l.out - column),
        .bias = l.bias ? l.bias + column : nullptr,
        .activation = for_kernel(l.activation),
        .y = l.y + column,
        .y_stride = static_cast<std::ptrdiff_t>(l.out),
    });
  });
}

/// `panels` are those of W, or null: then they are made from `weight`.
void multiply(const Layer& l, const float* weight, const float* panels) {
  const KernelTable& kernels = l.kernels();
  Arena::Scope scratch(l.runtime.arena());
  const std::int64_t blocks =
      ops::divide_up(std::min(l.rows, kRowsAtATime + kernels.rows), kernels.rows);
  float* const left = scratch.take<float>(blocks * kernels.rows * l.in);
  const std::int64_t tile_size = l.column_step() * l.in;
  float* const own_panels =
      panels ? nullptr : scratch.take<float>(tile_size * l.runtime.pool().threads());
  l.for_parts([&](std::int64_t first, std::int64_t count) {
    l.pack_rows(count, [&](std::int64_t row, std::int64_t rows) {
      kernels.pack_left(l.x + (first + row) * l.in, static_cast<std::ptrdiff_t>(l.in), rows,
                        static_cast<std::ptrdiff_t>(l.in), left + row * l.in);
    });
    l.for_tiles(count, [&](std::int64_t row, std::int64_t rows, std::int64_t column,
                           std::int64_t columns, int thread) {
      const float* tile = panels ? panels + column * l.in : own_panels + thread * tile_size;
      if (!panels)
        kernels.pack_rows(weight + column * l.in, static_cast<std::ptrdiff_t>(l.in), columns,
                          static_cast<std::ptrdiff_t>(l.in), own_panels + thread * tile_size);
      kernels.linear({
          .x = left + row * l.in,
          .rows = rows,
          .in = l.in,
          .weight = tile,
          .columns = columns,
          .bias = l.bias ? l.bias + column : nullptr,
          .activation = for_kernel(l.activation),
          .y = l.y + (first + row) * l.out + column,
          .y_stride = static_cast<std::ptrdiff_t>(l.out),
      });
    });
  });
}

void multiply_bytes(const Layer& l, const PackedWeights::Panels& w) {
  const KernelTable& kernels = l.kernels();
  Arena::Scope scratch(l.runtime.arena());
  const std::int64_t depth = kernels::byte_depth(l.in);
  const std::int64_t blocks =
      ops::divide_up(std::min(l.rows, kRowsAtATime + kernels.rows), kernels.rows);
  std::int8_t* const left = scratch.take<std::int8_t>(blocks * kernels.rows * depth);
  auto* const left_rows = scratch.take<kernels::ByteRow>(blocks * kernels.rows);
  l.for_parts([&](std::int64_t first, std::int64_t count) {
    l.pack_rows(count, [&](std::int64_t row, std::int64_t rows) {
      kernels.quantise_left(l.x + (first + row) * l.in, rows, l.in, left + row * depth,
                            left_rows + row);
    });
    l.for_tiles(count, [&](std::int64_t row, std::int64_t rows, std::int64_t column,
                           std::int64_t columns, int) {
      kernels.byte_linear({
          .x = left + row * depth,
          .x_rows = left_rows + row,
          .rows = rows,
          .in = l.in,
          .weight = w.whole + column * depth,
          .scales = w.scales + column,
          .sums = w.sums + column,
          .columns = columns,
          .bias = l.bias ? l.bias + column : nullptr,
          .activation = for_kernel(l.activation),
          .y = l.y + (first + row) * l.out + column,
          .y_stride = static_cast<std::ptrdiff_t>(l.out),
      });
    });
  });
}

/// Checks, and allocates the result.
Tensor result_for(const TensorView& x, const Shape& weight, const std::optional<TensorView>& bias) {
  ops::require_dtype("x", x, DType::kFloat32);
  if (x.shape().rank() < 1) throw ShapeError("x", "rank 1 or more", to_string(x.shape()));
  if (x.shape()[-1] != weight[1])
    throw ShapeError(
        "x",
        "a last axis of " + std::to_string(weight[1]) + ", as weight " + to_string(weight) + " has",
        to_string(x.shape()));
  if (bias) ops::require_floats("bias", *bias, Shape{weight[0]});
  return Tensor(ops::with_last(x.shape(), weight[0]));
}

Layer layer_of(Context& context, const TensorView& x, const Shape& weight,
               const std::optional<TensorView>& bias, Activation activation, Tensor& y) {
  const std::int64_t out = weight[0];
  const std::int64_t in = weight[1];
  const std::int64_t rows = y.shape().elements() / std::max<std::int64_t>(out, 1);
  const bool alone =
      2.0 * static_cast<double>(rows) * static_cast<double>(out) * static_cast<double>(in) <
      ops::kWorthSharing;
  return {context.runtime(),
          x.data<float>().data(),
          bias ? bias->data<float>().data() : nullptr,
          activation,
          y.data().data(),
          rows,
          in,
          out,
          alone};
}

}  // namespace

Tensor linear(Context& context, const TensorView& x, const TensorView& weight,
              const std::optional<TensorView>& bias, Activation activation) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_floats("weight", weight, 2);
  Tensor y = result_for(x, weight.shape(), bias);
  const Layer layer = layer_of(context, x, weight.shape(), bias, activation, y);
  const float* const w = weight.data<float>().data();
  if (layer.rows <= kRowsInPlace)
    multiply_in_place(layer, w);
  else
    multiply(layer, w, nullptr);
  return y;
}

Tensor linear(Context& context, const TensorView& x, const PackedWeights& weight,
              const std::optional<TensorView>& bias, Activation activation) {
  const PackedWeights::Panels& w = weight.panels();
  if (w.isa != context.isa())
    throw OptionError("weight", "weights packed for " + std::string(context.isa()),
                      "weights packed for " + std::string(w.isa));
  Tensor y = result_for(x, w.shape, bias);
  const Layer layer = layer_of(context, x, w.shape, bias, activation, y);
  if (w.format == PackedWeights::Format::kInt8)
    multiply_bytes(layer, w);
  else
    multiply(layer, nullptr, w.floats);
  return y;
}

PackedWeights::PackedWeights(Context& context, const TensorView& weight, Format format) {
  ops::require_floats("weight", weight, 2);
  Context::Runtime& runtime = context.runtime();
  const KernelTable& kernels = runtime.kernels();
  const std::int64_t out = weight.shape()[0];
  const std::int64_t in = weight.shape()[1];
  const std::int64_t columns = ops::divide_up(out, kernels.panel) * kernels.panel;
  const bool is_int8 = format == Format::kInt8;
  if (is_int8 && in > kernels::kMostByteDepth)
    throw ShapeError("weight",
                     "at most " + std::to_string(kernels::kMostByteDepth) + " columns for int8",
                     to_string(weight.shape()));
  const std::size_t numbers =
      is_int8 ? bytes_of(columns * kernels::byte_depth(in), 1) : bytes_of(columns * in, 4);
  const std::size_t scales = is_int8 ? bytes_of(columns, sizeof(float)) : 0;
  const std::size_t bytes = numbers + 2 * scales;
  panels_ = std::make_unique<Panels>(
      Panels{weight.shape(), format, kernels.isa, bytes, {allocate(bytes), release}});
  Panels& panels = *panels_;
  std::byte* const memory = panels.memory.get();
  if (is_int8) {
    panels.whole = reinterpret_cast<std::int8_t*>(memory);
    panels.scales = reinterpret_cast<float*>(memory + numbers);
    panels.sums = reinterpret_cast<float*>(memory + numbers + scales);
  } else {
    panels.floats = reinterpret_cast<float*>(memory);
  }

  const float* const w = weight.data<float>().data();
  const std::int64_t step = 4 * kernels.panel;
  const bool alone = static_cast<double>(out) * static_cast<double>(in) < ops::kWorthSharing;
  runtime.pool().run(ops::divide_up(out, step), alone, [&](std::int64_t piece, int) {
    const std::int64_t first = piece * step;
    const std::int64_t count = std::min(step, out - first);
    if (is_int8)
      kernels.quantise_weight(w + first * in, count, in,
                              panels.whole + first * kernels::byte_depth(in), panels.scales + first,
                              panels.sums + first);
    else
      kernels.pack_rows(w + first * in, static_cast<std::ptrdiff_t>(in), count,
                        static_cast<std::ptrdiff_t>(in), panels.floats + first * in);
  });
}

PackedWeights::~PackedWeights() = default;
PackedWeights::PackedWeights(PackedWeights&&) noexcept = default;
PackedWeights& PackedWeights::operator=(PackedWeights&&) noexcept = default;

const Shape& PackedWeights::shape() const noexcept { return panels_->shape; }
PackedWeights::Format PackedWeights::format() const noexcept { return panels_->format; }
std::size_t PackedWeights::bytes() const noexcept { return panels_->bytes; }

}  // namespace heed
