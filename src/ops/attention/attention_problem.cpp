#include "ops/attention/attention_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "ops/attention/kv_pages.hpp"
#include "ops/validate.hpp"

namespace heed::ops {

bool needs_more_than_lse(const AttentionOptions& options) {
  return options.need_statistics || options.need_weights || options.capture_scores ||
         options.capture_capped || options.capture_masked || options.capture_entropy;
}

namespace {

/// a b, for strides. The product of the sizes of an empty tensor may overflow: it then wraps
/// around, and is not used to read anything.
std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

Layout separate_heads(std::int64_t heads, std::int64_t rows, std::int64_t size) {
  const std::int64_t head = wrapping_product(rows, size);
  return {wrapping_product(heads, head), head, size};
}

Layout joined_heads(std::int64_t heads, std::int64_t rows, std::int64_t size) {
  const std::int64_t row = wrapping_product(heads, size);
  return {wrapping_product(rows, row), size, row};
}

/// The size of one of `heads` heads that share the last axis.
std::int64_t head_size(const char* argument, const TensorView& x, const char* count_name,
                       std::int64_t heads) {
  const std::int64_t size = x.shape()[-1];
  if (size % heads != 0)
    ops::refuse<ShapeError>(argument,
                            std::string("a last axis divisible by ")
                                .append(count_name)
                                .append(" (")
                                .append(std::to_string(heads))
                                .append(")"),
                            x.shape());
  return size / heads;
}

void require_agreement(const char* name, std::int64_t option, std::int64_t size) {
  if (option != 0 && option != size)
    ops::refuse<OptionError>(name, std::to_string(size) + ", as the shapes say", option);
}

void require_groups(std::int64_t H, std::int64_t G) {
  if (G == 0 ? H != 0 : H % G != 0)
    ops::refuse<ShapeError>("k",
                            "a number of heads that divides the " + std::to_string(H) + " of q", G);
}

/// Reads sizes and layouts from the three forms of inputs: separate heads, joined heads and packed
/// sequences.
class InputReader {
 public:
  InputReader(AttentionProblem& p, const TensorView& q, const TensorView& k, const TensorView& v,
              const AttentionOptions& options)
      : p_(p), q_(q), k_(k), v_(v), options_(options) {}

  void read() {
    if (options_.cu_seqlens_q || options_.cu_seqlens_k) return read_packed();
    const int rank = q_.shape().rank();
    if (rank != 3 && rank != 4) ops::refuse<ShapeError>("q", "rank 3 or 4", q_.shape());
    require_rank("k", k_, rank);
    require_rank("v", v_, rank);
    rank == 4 ? read_separate_heads() : read_joined_heads();
    p_.row_layout = separate_heads(p_.H, p_.L, 1);
    p_.row_shape = Shape{p_.B, p_.H, p_.L};
    if (options_.past_key || options_.past_value) read_past();
    if (options_.cache) read_cache(*options_.cache);
  }

 private:
  void read_separate_heads() {
    p_.B = q_.shape()[0];
    p_.H = q_.shape()[1];
    p_.L = q_.shape()[2];
    p_.D = q_.shape()[3];
    p_.G = k_.shape()[1];
    p_.S = k_.shape()[2];
    p_.Dv = v_.shape()[3];
    require_agreement("heads", options_.heads, p_.H);
    require_agreement("kv_heads", options_.kv_heads, p_.G);
    require_groups(p_.H, p_.G);
    require_shape("k", k_, {p_.B, p_.G, p_.S, p_.D});
    require_shape("v", v_, {p_.B, p_.G, p_.S, p_.Dv});
    set_layouts(separate_heads);
    p_.output_shape = Shape{p_.B, p_.H, p_.L, p_.Dv};
  }

  void set_layouts(Layout (*layout)(std::int64_t heads, std::int64_t rows, std::int64_t size)) {
    p_.q_layout = layout(p_.H, p_.L, p_.D);
    p_.k_layout = layout(p_.G, p_.S, p_.D);
    p_.v_layout = layout(p_.G, p_.S, p_.Dv);
    p_.output_layout = layout(p_.H, p_.L, p_.Dv);
  }

  void read_joined_heads() {
    if (options_.heads < 1 || options_.heads > Shape::kMaxSize)
      ops::refuse<OptionError>("heads", "a number from 1 to 2^40 for inputs [B, L, H*D]",
                               options_.heads);
    if (options_.kv_heads < 0 || options_.kv_heads > Shape::kMaxSize)
      ops::refuse<OptionError>("kv_heads", "a number from 0 to 2^40", options_.kv_heads);
    p_.H = options_.heads;
    p_.G = options_.kv_heads == 0 ? options_.heads : options_.kv_heads;
    p_.B = q_.shape()[0];
    p_.L = q_.shape()[1];
    p_.S = k_.shape()[1];
    p_.D = head_size("q", q_, "heads", p_.H);
    p_.Dv = head_size("v", v_, "kv_heads", p_.G);
    require_groups(p_.H, p_.G);
    require_shape("k", k_, {p_.B, p_.S, p_.G * p_.D});
    require_shape("v", v_, {p_.B, p_.S, p_.G * p_.Dv});
    set_layouts(joined_heads);
    p_.output_shape = Shape{p_.B, p_.L, p_.H * p_.Dv};
  }

  void read_past() {
    if (!options_.past_key || !options_.past_value)
      ops::refuse<OptionError>(options_.past_key ? "past_value" : "past_key",
                               "a tensor beside the other", "nothing");
    require_floats("past_key", *options_.past_key, 4);
    p_.past = options_.past_key->shape()[2];
    require_shape("past_key", *options_.past_key, Shape{p_.B, p_.G, p_.past, p_.D});
    require_floats("past_value", *options_.past_value, Shape{p_.B, p_.G, p_.past, p_.Dv});
    p_.S += p_.past;
  }

  void read_cache(const KvCache& cache) {
    if (options_.past_key)
      ops::refuse<OptionError>("cache", "none beside past_key, because both say what came before",
                               "one");
    const KvCache::Options& o = cache.options();
    const auto require = [](const char* name, std::int64_t size, std::int64_t cached) {
      if (size != cached)
        ops::refuse<ShapeError>("cache", std::to_string(size) + " for its " + std::string(name),
                                cached);
    };
    require("batch", p_.B, o.batch);
    require("heads", p_.G, o.heads);
    require("head size", p_.D, o.head_size);
    require("value size", p_.Dv, o.value_size);
    p_.appended = cache.pages().check_append(p_.S, options_.kv_lengths, "kv_lengths");
    p_.S = 0;
    for (std::int64_t b = 0; b < p_.B; ++b)
      p_.S = std::max(p_.S, cache.length(b) + p_.appended[static_cast<std::size_t>(b)]);
  }

  void read_packed() {
    p_.is_packed = true;
    if (!options_.cu_seqlens_q || !options_.cu_seqlens_k)
      ops::refuse<OptionError>(options_.cu_seqlens_q ? "cu_seqlens_k" : "cu_seqlens_q",
                               "a tensor beside the other", "nothing");
    const auto exclude = [](const char* name, bool given, const char* why) {
      if (given)
        ops::refuse<OptionError>(name, std::string("none beside cu_seqlens, ") + why, "one");
    };
    const char* const no_pairs = "because packed sequences have no common [L, S]";
    exclude("mask", options_.mask.has_value(), no_pairs);
    exclude("bias", options_.bias.has_value(), no_pairs);
    exclude("need_weights", options_.need_weights, no_pairs);
    exclude("capture",
            options_.capture_scores || options_.capture_capped || options_.capture_masked,
            no_pairs);
    exclude("kv_lengths", options_.kv_lengths.has_value(), "which says the lengths already");
    exclude("past", options_.past_key || options_.past_value || options_.cache,
            "which has no batch axis for it");
    exclude("block_mask", options_.block_mask != nullptr, no_pairs);
    require_floats("q", q_, 3);
    require_floats("k", k_, 3);
    require_floats("v", v_, 3);
    p_.B = 1;
    p_.L = q_.shape()[0];
    p_.H = q_.shape()[1];
    p_.D = q_.shape()[2];
    p_.S = k_.shape()[0];
    p_.G = k_.shape()[1];
    p_.Dv = v_.shape()[2];
    require_agreement("heads", options_.heads, p_.H);
    require_agreement("kv_heads", options_.kv_heads, p_.G);
    require_groups(p_.H, p_.G);
    require_shape("k", k_, {p_.S, p_.G, p_.D});
    require_shape("v", v_, {p_.S, p_.G, p_.Dv});
    set_layouts(joined_heads);
    p_.output_shape = Shape{p_.L, p_.H, p_.Dv};
    p_.row_layout = {0, p_.L, 1};
    p_.row_shape = Shape{p_.H, p_.L};
  }

  AttentionProblem& p_;
  const TensorView& q_;
  const TensorView& k_;
  const TensorView& v_;
  const AttentionOptions& options_;
};

/// The bounds of packed sequences: from 0 to `total`, never decreasing.
std::span<const std::int32_t> read_bounds(const char* argument, const TensorView& bounds,
                                          std::int64_t total) {
  require_dtype(argument, bounds, DType::kInt32);
  require_rank(argument, bounds, 1);
  const auto values = bounds.data<std::int32_t>();
  if (values.empty() || values.front() != 0)
    ops::refuse<OptionError>(argument, "a first number of 0",
                             values.empty() ? "none" : std::to_string(values.front()));
  for (std::size_t n = 1; n < values.size(); ++n)
    if (values[n] < values[n - 1])
      ops::refuse<OptionError>(
          argument, "numbers that never decrease",
          std::to_string(values[n]) + " after " + std::to_string(values[n - 1]));
  if (values.back() != total)
    ops::refuse<OptionError>(argument, "a last number of " + std::to_string(total) + ", the total",
                             values.back());
  return values;
}

/// Whether any result, or any gradient of q, k and v, has an element.
bool has_work(const AttentionProblem& p, const AttentionOptions& options) {
  const bool has_rows = p.B > 0 && p.H > 0 && p.L > 0;
  if (p.D > 0 || p.Dv > 0) return has_rows || (p.B > 0 && p.G > 0 && p.S > 0);
  return has_rows && (options.need_lse || needs_more_than_lse(options));
}

/// A value of rolling_first that hides no key.
constexpr std::int64_t kNotRolling = -Shape::kMaxSize;

std::span<Sequence> take_sequences(std::size_t count, Arena::Scope& scratch) {
  return {scratch.take<Sequence>(static_cast<std::int64_t>(count)), count};
}

std::span<Sequence> packed_sequences(const AttentionProblem& p, const AttentionOptions& options,
                                     Arena::Scope& scratch) {
  const auto queries = read_bounds("cu_seqlens_q", *options.cu_seqlens_q, p.L);
  const auto keys = read_bounds("cu_seqlens_k", *options.cu_seqlens_k, p.S);
  if (queries.size() != keys.size())
    ops::refuse<ShapeError>(
        "cu_seqlens_k", std::to_string(queries.size()) + " numbers, as cu_seqlens_q", keys.size());
  const auto sequences = take_sequences(queries.size() - 1, scratch);
  for (std::size_t n = 0; n < sequences.size(); ++n) {
    const std::int64_t Lq = queries[n + 1] - queries[n];
    const std::int64_t Lk = keys[n + 1] - keys[n];
    sequences[n] = {queries[n], Lq, keys[n], 0, kNotRolling, Lk, Lk, Lk - Lq};
  }
  return sequences;
}

std::span<Sequence> batch_sequences(const AttentionProblem& p, const AttentionOptions& options,
                                    Arena::Scope& scratch) {
  std::span<const std::int32_t> lengths;
  if (options.kv_lengths) {
    require_array("kv_lengths", *options.kv_lengths, DType::kInt32, {p.B});
    lengths = options.kv_lengths->data<std::int32_t>();
  }
  if (lengths.empty() && !has_work(p, options)) return {};
  const auto sequences = take_sequences(static_cast<std::size_t>(p.B), scratch);
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    const std::int64_t length = lengths.empty() ? p.S : lengths[b];
    if (length < 0 || length > p.S)
      ops::refuse<OptionError>("kv_lengths", {"lengths from 0 to ", p.S}, length);
    std::int64_t offset = p.past;
    if (!lengths.empty() && !options.past_key) offset = length - p.L;
    sequences[b] = {0, p.L, 0, 0, kNotRolling, p.S, p.mask.reach(length), offset};
  }
  return sequences;
}

std::span<Sequence> cached_sequences(const AttentionProblem& p, const KvCache& cache,
                                     Arena::Scope& scratch) {
  const KvCache::Options& o = cache.options();
  const auto sequences = take_sequences(static_cast<std::size_t>(p.B), scratch);
  for (std::int64_t b = 0; b < p.B; ++b) {
    const auto n = static_cast<std::size_t>(b);
    const std::int64_t before = cache.length(b);
    const std::int64_t length = before + p.appended[n];
    // The last `capacity` keys up to the query's own, whose position is before + i.
    const std::int64_t rolling_first = o.is_rolling ? before - o.capacity + 1 : kNotRolling;
    const std::int64_t oldest = std::max(cache.first(b), rolling_first);
    sequences[n] = {0, p.L, 0, oldest, rolling_first, length, p.mask.reach(length), before};
  }
  return sequences;
}

/// Replaces the default offsets by the offsets in the options.
void align(std::span<Sequence> sequences, std::int64_t count, const AttentionOptions& options) {
  if (options.causal_offset) {
    const TensorView& given = *options.causal_offset;
    require_dtype("causal_offset", given, DType::kInt32);
    if (given.shape() != Shape{1} && given.shape() != Shape{count})
      ops::refuse<ShapeError>("causal_offset",
                              count == 1 ? "[1]" : "[1] or [" + std::to_string(count) + "]",
                              given.shape());
    const auto offsets = given.data<std::int32_t>();
    for (std::size_t n = 0; n < sequences.size(); ++n)
      sequences[n].offset = offsets[offsets.size() == 1 ? 0 : n];
    return;
  }
  if (options.causal_alignment == CausalAlignment::kDefault) return;
  const bool has_lengths = options.kv_lengths && !options.cache;
  const auto lengths =
      has_lengths ? options.kv_lengths->data<std::int32_t>() : std::span<const std::int32_t>();
  for (std::size_t n = 0; n < sequences.size(); ++n) {
    Sequence& sequence = sequences[n];
    const std::int64_t keys = lengths.empty() ? sequence.keys : lengths[n];
    const bool is_top_left = options.causal_alignment == CausalAlignment::kTopLeft;
    sequence.offset = is_top_left ? 0 : keys - sequence.queries;
  }
}

HeadNumbers head_numbers(const char* argument, const std::optional<TensorView>& given,
                         const AttentionProblem& p, std::int64_t sequences) {
  if (!given) return {};
  require_dtype(argument, *given, DType::kFloat32);
  const Shape& shape = given->shape();
  const float* const data = given->data<float>().data();
  if (shape == Shape{p.H}) return {data, 0, 1};
  const Shape full{sequences, p.H};
  const auto fits = [&](int axis) { return shape[axis] == 1 || shape[axis] == full[axis]; };
  if (shape.rank() != 2 || !fits(0) || !fits(1))
    ops::refuse<ShapeError>(
        argument, to_string(Shape{p.H}) + " or what broadcasts to " + to_string(full), shape);
  return {data, shape[0] == 1 ? 0 : shape[1], shape[1] == 1 ? 0 : 1};
}

void require_ranges(const AttentionProblem& p, const AttentionOptions& options) {
  const auto require_side = [](const char* name, std::int64_t side) {
    if (side < -1) ops::refuse<OptionError>(name, "-1 or more", side);
  };
  require_side("window_left", options.window_left);
  require_side("window_right", options.window_right);
  if (options.scale && !std::isfinite(*options.scale))
    ops::refuse<OptionError>("scale", "a finite number", *options.scale);
  if (!(options.softcap >= 0.0f) || !std::isfinite(options.softcap))
    ops::refuse<OptionError>("softcap", "0 or a positive number", options.softcap);
  if (!(options.dropout >= 0.0 && options.dropout < 1.0))
    ops::refuse<OptionError>("dropout", "a share from 0 to below 1", options.dropout);
  if (options.precision != Precision::kFloat32 && options.cache)
    ops::refuse<OptionError>("precision", "float32 with a cache", "int8-scores");
  if (options.precision == Precision::kInt8Scores && p.D > kernels::kMaxByteDepth)
    ops::refuse<ShapeError>(
        "q",
        "heads of at most " + std::to_string(kernels::kMaxByteDepth) + " numbers for int8 scores",
        p.D);
  if (options.block_mask) {
    const BlockMask& mask = *options.block_mask;
    if (mask.queries() != p.L || mask.keys() != p.S)
      ops::refuse<ShapeError>(
          "block_mask", std::to_string(p.L) + " queries and " + std::to_string(p.S) + " keys",
          std::to_string(mask.queries()) + " and " + std::to_string(mask.keys()));
    const auto fits = [](std::int64_t own, std::int64_t size) { return own == 1 || own == size; };
    if (!fits(mask.kinds().shape()[0], p.B) || !fits(mask.kinds().shape()[1], p.H))
      ops::refuse<ShapeError>("block_mask", "batch and heads of 1 or of the inputs",
                              mask.kinds().shape());
  }
}

}  // namespace

AttentionProblem::AttentionProblem(const TensorView& q, const TensorView& k, const TensorView& v,
                                   const AttentionOptions& options, Arena::Scope& scratch) {
  require_dtype("q", q, DType::kFloat32);
  require_dtype("k", k, DType::kFloat32);
  require_dtype("v", v, DType::kFloat32);
  InputReader(*this, q, k, v, options).read();
  require_ranges(*this, options);
  is_causal = options.is_causal;
  // No array is longer, so a window this wide is open, and positions within it do not overflow.
  left = std::min(options.window_left, Shape::kMaxSize);
  right = std::min(options.window_right, Shape::kMaxSize);
  pairs_shape = Shape{B, H, L, S};
  mask = BroadcastMask(options.mask, options.bias, pairs_shape);
  if (is_packed)
    sequences = packed_sequences(*this, options, scratch);
  else if (options.cache)
    sequences = cached_sequences(*this, *options.cache, scratch);
  else
    sequences = batch_sequences(*this, options, scratch);
  // Of sequences, although `sequences` may be empty.
  const std::int64_t count = is_packed ? options.cu_seqlens_q->shape()[0] - 1 : B;
  align(sequences, count, options);
  alibi_slopes = head_numbers("alibi_slopes", options.alibi_slopes, *this, count);
  sinks = head_numbers("sinks", options.sinks, *this, count);
  scale =
      options.scale ? *options.scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(D)));
}

}  // namespace heed::ops
