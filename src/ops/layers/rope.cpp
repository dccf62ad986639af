#include <algorithm>
#include <vector>

#include "heed/heed.hpp"
#include "kernels/elementary.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

/// x as [B, heads, L, size], for both layouts.
struct Heads {
  std::int64_t B, H, L, D;
  std::int64_t head_stride, row_stride;

  bool is_empty() const noexcept { return B == 0 || H == 0 || L == 0 || D == 0; }
};

Heads heads_of(const char* argument, const TensorView& x, std::int64_t heads) {
  const Shape& shape = x.shape();
  if (shape.rank() == 4) {
    if (heads != 0 && heads != shape[1])
      ops::refuse<OptionError>("heads", std::to_string(shape[1]) + ", as the shape says", heads);
    return {shape[0], shape[1], shape[2], shape[3], shape[2] * shape[3], shape[3]};
  }
  if (shape.rank() != 3) ops::refuse<ShapeError>(argument, "rank 3 or 4", shape);
  if (heads < 1 || shape[2] % heads != 0)
    ops::refuse<OptionError>(
        "heads", "a divisor of the last axis of " + std::string(argument) + " " + to_string(shape),
        heads);
  const std::int64_t size = shape[2] / heads;
  return {shape[0], heads, shape[1], size, size, shape[2]};
}

/// The cosines and sines of every row: [B, L, pairs] each, or [1, L, pairs] if batch entries share
/// them.
struct Rotations {
  explicit Rotations(const Shape& shape) : cos(shape), sin(shape) {}

  Tensor cos, sin;
};

/// The number of batch entries to compute rotations for: `given`, or 0 if x has no elements.
std::int64_t batch_of(const Heads& x, std::int64_t given) { return x.is_empty() ? 0 : given; }

std::span<const std::int32_t> read_positions(const RopeOptions& options, const Heads& x) {
  if (!options.position_ids) return {};
  ops::require_dtype("position_ids", *options.position_ids, DType::kInt32);
  const Shape& shape = options.position_ids->shape();
  if (shape != Shape{1, x.L}) ops::require_shape("position_ids", *options.position_ids, {x.B, x.L});
  return options.position_ids->data<std::int32_t>();
}

Rotations computed_rotations(Context& context, const RopeOptions& options, const Heads& x,
                             std::int64_t pairs) {
  const auto positions = read_positions(options, x);
  const std::int64_t batch =
      batch_of(x, options.position_ids ? options.position_ids->shape()[0] : 1);
  Rotations result(Shape{batch, x.L, pairs});
  float* const cos = result.cos.data().data();
  float* const sin = result.sin.data().data();
  if (result.cos.shape().elements() == 0) return result;  // the number of pairs is not limited then
  std::vector<double> frequencies(static_cast<std::size_t>(pairs));
  for (std::int64_t c = 0; c < pairs; ++c)
    frequencies[static_cast<std::size_t>(c)] =
        kernels::power(options.base, -static_cast<double>(c) / static_cast<double>(pairs));
  for (std::int64_t row = 0; row < batch * x.L; ++row) {
    const std::int64_t position =
        positions.empty() ? options.offset + row % x.L : positions[static_cast<std::size_t>(row)];
    context.runtime().kernels().layers.rope_angles(static_cast<double>(position),
                                                   frequencies.data(), pairs, cos + row * pairs,
                                                   sin + row * pairs);
  }
  return result;
}

/// Rows of given tables: [positions, pairs] by position, or [B, L, pairs] or [1, L, pairs] by row.
Rotations given_rotations(const RopeOptions& options, const Heads& x, std::int64_t pairs) {
  if (!options.cos || !options.sin)
    ops::refuse<OptionError>(options.cos ? "sin" : "cos", "a table beside the other", "nothing");
  const bool by_row = options.cos->shape().rank() == 3;
  const std::int64_t first_size = options.cos->shape().rank() > 0 ? options.cos->shape()[0] : 0;
  const Shape shape =
      by_row ? Shape{first_size == 1 ? 1 : x.B, x.L, pairs} : Shape{first_size, pairs};
  ops::require_floats("cos", *options.cos, shape);
  ops::require_floats("sin", *options.sin, shape);
  const auto positions = read_positions(options, x);
  const std::int64_t batch = batch_of(x, by_row                 ? shape[0]
                                         : options.position_ids ? options.position_ids->shape()[0]
                                                                : 1);
  Rotations result(Shape{batch, x.L, pairs});
  auto cos = result.cos.data().begin();
  auto sin = result.sin.data().begin();
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < x.L; ++i) {
      const std::int64_t at = b * x.L + i;
      std::int64_t row = at;
      if (!by_row) {
        row = positions.empty() ? options.offset + i : positions[static_cast<std::size_t>(at)];
        if (row < 0 || row >= shape[0])
          ops::refuse<OptionError>(positions.empty() ? "offset" : "position_ids",
                                   {"positions from 0 to ", shape[0] - 1}, row);
      }
      cos = std::copy_n(options.cos->data<float>().begin() + row * pairs, pairs, cos);
      sin = std::copy_n(options.sin->data<float>().begin() + row * pairs, pairs, sin);
    }
  return result;
}

/// Rotates each pair by its angle times `direction`, 1 or -1.
Tensor rotated(Context& context, const char* argument, const TensorView& x,
               const RopeOptions& options, float direction) {
  ops::require_dtype(argument, x, DType::kFloat32);
  const Heads heads = heads_of(argument, x, options.heads);
  const std::int64_t rotary = options.rotary_size == 0 ? heads.D : options.rotary_size;
  if (rotary < 0 || rotary > heads.D || rotary % 2 != 0)
    ops::refuse<OptionError>("rotary_size", {"an even number up to ", heads.D}, rotary);
  ops::require_positive("base", options.base);
  const std::int64_t pairs = rotary / 2;
  Tensor y(x.shape());
  const bool has_tables = options.cos || options.sin;
  const Rotations rotations = has_tables ? given_rotations(options, heads, pairs)
                                         : computed_rotations(context, options, heads, pairs);
  if (heads.is_empty()) return y;
  for (std::int64_t b = 0; b < heads.B; ++b)
    for (std::int64_t h = 0; h < heads.H; ++h) {
      const std::int64_t start = b * heads.H * heads.L * heads.D + h * heads.head_stride;
      const std::int64_t rotation = (rotations.cos.shape()[0] == 1 ? 0 : b) * heads.L * pairs;
      context.runtime().kernels().layers.rope({
          .x = x.data<float>().data() + start,
          .y = y.data().data() + start,
          .rows = heads.L,
          .stride = heads.row_stride,
          .size = heads.D,
          .pairs = pairs,
          .cos = rotations.cos.data().data() + rotation,
          .sin = rotations.sin.data().data() + rotation,
          .direction = direction,
          .is_interleaved = options.style == RopeStyle::kInterleaved,
      });
    }
  return y;
}

}  // namespace

Tensor rope(Context& context, const TensorView& x, const RopeOptions& options) {
  return rotated(context, "x", x, options, 1.0f);
}

Tensor rope_backward(Context& context, const TensorView& d_output, const RopeOptions& options) {
  return rotated(context, "d_output", d_output, options, -1.0f);
}

}  // namespace heed
