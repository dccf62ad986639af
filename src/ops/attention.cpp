#include <algorithm>
#include <cmath>

#include "heed/heed.hpp"
#include "ops/mask.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using kernels::kKeyTile;
using kernels::kQueryTile;
using ops::divide_up;

/// Where the rows of one of q, k, v, output stand.
struct Layout {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t row;

  template <class T>
  T* at(T* data, std::int64_t b, std::int64_t h, std::int64_t i) const noexcept {
    return data + b * batch + h * head + i * row;
  }
};

struct Problem {
  std::int64_t B, H, G, L, S, D, Dv;
  /// Whether inputs and output are [B, L, H*D] rather than [B, H, L, D].
  bool joined_heads;

  Layout layout(std::int64_t heads, std::int64_t rows, std::int64_t size) const noexcept {
    if (joined_heads) return {rows * heads * size, size, heads * size};
    return {heads * rows * size, rows * size, size};
  }
  Shape output() const { return joined_heads ? Shape{B, L, H * Dv} : Shape{B, H, L, Dv}; }
};

void require_count(std::string_view argument, std::int64_t count, std::string_view expected) {
  if (count < 1) throw OptionError(argument, expected, std::to_string(count));
}

/// The size of one of `heads` heads that share the last axis.
std::int64_t head_size(std::string_view argument, const TensorView& x, std::string_view count_name,
                       std::int64_t heads) {
  const std::int64_t size = x.shape()[-1];
  if (size % heads != 0)
    throw ShapeError(argument,
                     std::string("a last axis divisible by ")
                         .append(count_name)
                         .append(" (")
                         .append(std::to_string(heads))
                         .append(")"),
                     to_string(x.shape()));
  return size / heads;
}

Problem problem_with_joined_heads(const TensorView& q, const TensorView& k, const TensorView& v,
                                  const AttentionOptions& options) {
  require_count("heads", options.heads, "1 or more for inputs [B, L, H*D]");
  const std::int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  require_count("kv_heads", kv_heads, "0 or more");
  Problem p{};
  p.joined_heads = true;
  p.H = options.heads;
  p.G = kv_heads;
  p.B = q.shape()[0];
  p.L = q.shape()[1];
  p.S = k.shape()[1];
  p.D = head_size("q", q, "heads", p.H);
  p.Dv = head_size("v", v, "kv_heads", p.G);
  return p;
}

Problem problem_with_separate_heads(const TensorView& q, const TensorView& k, const TensorView& v,
                                    const AttentionOptions& options) {
  Problem p{};
  p.joined_heads = false;
  p.B = q.shape()[0];
  p.H = q.shape()[1];
  p.L = q.shape()[2];
  p.D = q.shape()[3];
  p.G = k.shape()[1];
  p.S = k.shape()[2];
  p.Dv = v.shape()[3];
  const auto agree = [](std::string_view name, std::int64_t option, std::int64_t size) {
    if (option != 0 && option != size)
      throw OptionError(name, std::to_string(size) + ", as the shapes say", std::to_string(option));
  };
  agree("heads", options.heads, p.H);
  agree("kv_heads", options.kv_heads, p.G);
  return p;
}

Problem validate(const TensorView& q, const TensorView& k, const TensorView& v,
                 const AttentionOptions& options) {
  ops::require_dtype("q", q, DType::kFloat32);
  ops::require_dtype("k", k, DType::kFloat32);
  ops::require_dtype("v", v, DType::kFloat32);
  const int rank = q.shape().rank();
  if (rank != 3 && rank != 4) throw ShapeError("q", "rank 3 or 4", to_string(q.shape()));
  ops::require_rank("k", k, rank);
  ops::require_rank("v", v, rank);
  const Problem p = rank == 3 ? problem_with_joined_heads(q, k, v, options)
                              : problem_with_separate_heads(q, k, v, options);
  if (p.G == 0 ? p.H != 0 : p.H % p.G != 0)
    throw ShapeError("k", "a number of heads that divides the " + std::to_string(p.H) + " of q",
                     std::to_string(p.G));
  ops::require_shape("k", k,
                     p.joined_heads ? Shape{p.B, p.S, p.G * p.D} : Shape{p.B, p.G, p.S, p.D});
  ops::require_shape("v", v,
                     p.joined_heads ? Shape{p.B, p.S, p.G * p.Dv} : Shape{p.B, p.G, p.S, p.Dv});
  if (options.scale && !std::isfinite(*options.scale))
    throw OptionError("scale", "a finite number", std::to_string(*options.scale));
  if (options.kv_lengths) {
    ops::require_dtype("kv_lengths", *options.kv_lengths, DType::kInt32);
    ops::require_shape("kv_lengths", *options.kv_lengths, Shape{p.B});
    for (const std::int32_t length : options.kv_lengths->data<std::int32_t>())
      if (length < 0 || length > p.S)
        throw OptionError("kv_lengths", "lengths from 0 to " + std::to_string(p.S),
                          std::to_string(length));
  }
  return p;
}

/// Keys and values in the order in which the kernel reads them; shared by the query heads of a
/// group and by all their tiles.
class PackedKeyValues {
 public:
  PackedKeyValues(const Problem& p, const kernels::KernelTable& kernels, Arena::Scope& scratch)
      : p_(p),
        kernels_(kernels),
        tiles_(divide_up(p.S, kKeyTile)),
        key_tile_(kKeyTile * p.D),
        value_tile_(kKeyTile * divide_up(p.Dv, kernels.panel) * kernels.panel),
        keys_(scratch.take<float>(p.B * p.G * tiles_ * key_tile_)),
        values_(scratch.take<float>(p.B * p.G * tiles_ * value_tile_)),
        finite_(scratch.take<std::uint8_t>(p.B * p.G * tiles_)) {}

  std::int64_t pieces() const noexcept { return p_.B * p_.G * tiles_; }
  std::int64_t batch_of(std::int64_t piece) const noexcept { return piece / tiles_ / p_.G; }

  /// Packs one tile of one (batch, key/value head): its first keys and values.
  void pack(std::int64_t piece, const float* k, std::int64_t key_count, const float* v,
            std::int64_t value_count) noexcept {
    const std::int64_t b = batch_of(piece);
    const std::int64_t g = piece / tiles_ % p_.G;
    const std::int64_t first = piece % tiles_ * kKeyTile;
    const auto inside = [&](std::int64_t count) {
      return std::clamp<std::int64_t>(count - first, 0, kKeyTile);
    };
    const Layout key_layout = p_.layout(p_.G, p_.S, p_.D);
    const Layout value_layout = p_.layout(p_.G, p_.S, p_.Dv);
    if (inside(key_count) > 0)
      kernels_.pack_rows(key_layout.at(k, b, g, first), static_cast<std::ptrdiff_t>(key_layout.row),
                         inside(key_count), static_cast<std::ptrdiff_t>(p_.D),
                         keys_ + piece * key_tile_);
    if (inside(value_count) > 0)
      finite_[piece] = kernels_.pack_columns(
          value_layout.at(v, b, g, first), static_cast<std::ptrdiff_t>(value_layout.row),
          inside(value_count), static_cast<std::ptrdiff_t>(p_.Dv), kKeyTile,
          values_ + piece * value_tile_);
  }

  const float* keys(std::int64_t b, std::int64_t g) const noexcept {
    return keys_ + (b * p_.G + g) * tiles_ * key_tile_;
  }
  const float* values(std::int64_t b, std::int64_t g) const noexcept {
    return values_ + (b * p_.G + g) * tiles_ * value_tile_;
  }
  const std::uint8_t* finite(std::int64_t b, std::int64_t g) const noexcept {
    return finite_ + (b * p_.G + g) * tiles_;
  }

 private:
  const Problem& p_;
  const kernels::KernelTable& kernels_;
  std::int64_t tiles_;
  std::int64_t key_tile_;
  std::int64_t value_tile_;
  float* keys_;
  float* values_;
  std::uint8_t* finite_;
};

float* data_or_null(std::optional<Tensor>& tensor) {
  return tensor ? tensor->data().data() : nullptr;
}

}  // namespace

AttentionResult attention(Context& context, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionOptions& options) {
  const Problem p = validate(q, k, v, options);
  const ops::BroadcastMask mask =
      options.mask ? ops::BroadcastMask(*options.mask, p.B, p.H, p.L, p.S) : ops::BroadcastMask();
  const float scale = options.scale ? *options.scale
                                    : static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.D)));

  AttentionResult result;
  const Shape pairs{p.B, p.H, p.L, p.S};
  result.output = Tensor(p.output());
  if (options.need_weights) result.weights.emplace(pairs);
  if (options.need_lse) result.lse.emplace(Shape{p.B, p.H, p.L});
  if (options.capture_scores) result.scores.emplace(pairs);
  if (options.capture_masked) result.masked.emplace(pairs);

  Context::Runtime& runtime = context.runtime();
  const kernels::KernelTable& kernels = runtime.kernels();
  Arena::Scope scratch(runtime.arena());
  PackedKeyValues packed(p, kernels, scratch);
  const std::int64_t scratch_size = kernels.attention_scratch(p.D, p.Dv);
  float* const thread_scratch = scratch.take<float>(runtime.pool().threads() * scratch_size);

  const std::int32_t* lengths =
      options.kv_lengths ? options.kv_lengths->data<std::int32_t>().data() : nullptr;
  const auto length = [&](std::int64_t b) { return lengths ? lengths[b] : p.S; };
  const auto visible = [&](std::int64_t b) { return mask.reach(length(b)); };
  // Scores before the mask are those of every key.
  const auto scored = [&](std::int64_t b) { return options.capture_scores ? p.S : visible(b); };

  const double operations = 2.0 * static_cast<double>(p.B * p.H) * static_cast<double>(p.L) *
                            static_cast<double>(p.S) * static_cast<double>(p.D + p.Dv);
  const bool alone = operations < ops::kWorthSharing;

  const float* const k_data = k.data<float>().data();
  const float* const v_data = v.data<float>().data();
  runtime.pool().run(packed.pieces(), alone, [&](std::int64_t piece, int) {
    const std::int64_t b = packed.batch_of(piece);
    packed.pack(piece, k_data, scored(b), v_data, visible(b));
  });

  const Layout query_layout = p.layout(p.H, p.L, p.D);
  const Layout output_layout = p.layout(p.H, p.L, p.Dv);
  const float* const q_data = q.data<float>().data();
  float* const output = result.output.data().data();
  float* const lse = data_or_null(result.lse);
  float* const weights = data_or_null(result.weights);
  float* const scores = data_or_null(result.scores);
  float* const masked = data_or_null(result.masked);

  const std::int64_t tiles = divide_up(p.L, kQueryTile);
  runtime.pool().run(p.B * p.H * tiles, alone, [&](std::int64_t piece, int thread) {
    const std::int64_t b = piece / tiles / p.H;
    const std::int64_t h = piece / tiles % p.H;
    const std::int64_t g = h / (p.H / p.G);
    // Under a causal mask the last tile has the most work: begin with it.
    const std::int64_t first = (tiles - 1 - piece % tiles) * kQueryTile;
    const std::int64_t row = (b * p.H + h) * p.L + first;
    const auto rows_of = [&](float* all, std::int64_t columns) {
      return all ? all + row * columns : nullptr;
    };
    kernels.attention({
        .q = query_layout.at(q_data, b, h, first),
        .q_stride = static_cast<std::ptrdiff_t>(query_layout.row),
        .queries = static_cast<int>(std::min<std::int64_t>(kQueryTile, p.L - first)),
        .first_query = first,
        .head_size = p.D,
        .value_size = p.Dv,
        .scale = scale,
        .k_panels = packed.keys(b, g),
        .packed_keys = scored(b),
        .v_panels = packed.values(b, g),
        .v_finite = packed.finite(b, g),
        .keys = visible(b),
        .is_causal = options.is_causal,
        .offset = lengths ? lengths[b] - p.L : 0,
        .mask = mask.slice(b, h),
        .output = output_layout.at(output, b, h, first),
        .output_stride = static_cast<std::ptrdiff_t>(output_layout.row),
        .lse = rows_of(lse, 1),
        .all_keys = p.S,
        .weights = rows_of(weights, p.S),
        .scores = rows_of(scores, p.S),
        .masked = rows_of(masked, p.S),
        .scratch = thread_scratch + thread * scratch_size,
    });
  });
  return result;
}

}  // namespace heed
