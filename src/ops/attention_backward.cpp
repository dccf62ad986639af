#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "ops/attention_tiles.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using kernels::BackwardQueries;
using kernels::KeyValueTile;
using kernels::kKeyTile;
using kernels::kQueryTile;
using ops::AttentionProblem;
using ops::divide_up;
using ops::Sequence;

/// What attention gave, and the gradients of that.
struct Results {
  const float* output;
  const float* lse;
  const float* d_output;
  const float* d_lse;  // or null
};

bool all_finite(const float* rows, std::int64_t row_stride, std::int64_t count,
                std::int64_t columns) noexcept {
  std::int32_t largest = 0;  // magnitude; as whole numbers they compare as the floats do
  for (std::int64_t r = 0; r < count; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      largest =
          std::max(largest, std::bit_cast<std::int32_t>(rows[r * row_stride + c]) & 0x7fffffff);
  return largest < 0x7f800000;
}

/// The gradient of a float mask or of a bias, whichever of them is there.
struct BiasGradient {
  const TensorView* bias = nullptr;
  float* data = nullptr;

  /// The slice for (b, h) lies as that of the bias does.
  float* slice(const AttentionProblem& p, std::int64_t b, std::int64_t h) const noexcept {
    return bias ? data + (p.mask.slice(b, h).bias.data - bias->data<float>().data()) : nullptr;
  }
};

/// Takes all the memory that it needs when it is made.
///
/// The unit of work is a chunk: every so-many-th tile of keys of one key/value head, so that the
/// chunks of a head have about the same work under a causal mask. It holds the gradients of one
/// tile of keys at a time and goes through all queries with it, whose gradients it adds to an array
/// of its own; these are added up at the end, in the order of the chunks. How many chunks there are
/// depends on the sizes alone.
class TiledBackward {
 public:
  /// The new keys and values lie as these layouts say; those of p are for all of them.
  TiledBackward(const AttentionProblem& p, const ops::Layout& new_k_layout,
                const ops::Layout& new_v_layout, const AttentionOptions& options,
                AttentionGradients& result, Context::Runtime& runtime, Arena::Scope& scratch)
      : p_(p),
        new_k_layout_(new_k_layout),
        new_v_layout_(new_v_layout),
        options_(options),
        result_(result),
        kernels_(runtime.kernels()),
        pool_(runtime.pool()),
        tiles_(ops::query_tiles(p, scratch)),
        query_depth_(depth_of(kQueryTile, p.L, kernels_.rows)),
        key_depth_(depth_of(kKeyTile, p.S, kernels_.panel)),
        padded_d_(padded(p.D)),
        padded_dv_(padded(p.Dv)) {
    const auto N = static_cast<std::int64_t>(p.sequences.size());
    query_starts_ = scratch.take<std::int64_t>(N + 1);
    key_starts_ = scratch.take<std::int64_t>(N + 1);
    query_starts_[0] = key_starts_[0] = 0;
    std::int64_t most_key_tiles = 0;
    for (std::int64_t n = 0; n < N; ++n) {
      const Sequence& sequence = p.sequences[static_cast<std::size_t>(n)];
      const std::int64_t key_tiles = divide_up(sequence.keys, kKeyTile);
      query_starts_[n + 1] = query_starts_[n] + divide_up(sequence.queries, kQueryTile);
      key_starts_[n + 1] = key_starts_[n] + key_tiles;
      most_key_tiles = std::max(most_key_tiles, key_tiles);
    }
    if (result.mask) bias_ = {&*options.mask, result.mask->data().data()};
    if (result.bias) bias_ = {&*options.bias, result.bias->data().data()};
    takes_turns_ = bias_.bias && !is_whole(bias_.bias->shape());
    // Enough for a few threads, where there are not enough heads.
    const std::int64_t heads = std::max<std::int64_t>(1, takes_turns_ ? 1 : N * p.G);
    chunks_ = std::min(most_key_tiles, std::clamp<std::int64_t>(kFewestPieces / heads, 1, 8));

    queries_ = scratch.take<BackwardQueries>(p.H * query_tiles());
    const std::int64_t q_size = round_up(query_depth_ * p.D, 16);
    const std::int64_t d_output_size = round_up(query_depth_ * p.Dv, 16);
    for (std::int64_t slot = 0; slot < p.H * query_tiles(); ++slot)
      queries_[slot].depth = query_depth_;
    const auto share_out = [&](float* BackwardQueries::* member, std::int64_t size) {
      float* const memory = scratch.take<float>(p.H * query_tiles() * size);
      for (std::int64_t slot = 0; slot < p.H * query_tiles(); ++slot)
        queries_[slot].*member = memory + slot * size;
    };
    share_out(&BackwardQueries::q, q_size);
    share_out(&BackwardQueries::d_output, d_output_size);
    share_out(&BackwardQueries::q_columns, query_depth_ * padded_d_);
    share_out(&BackwardQueries::d_output_columns, query_depth_ * padded_dv_);
    share_out(&BackwardQueries::delta, kQueryTile);
    d_q_ = scratch.take<float>(chunks_ * p.H * query_tiles() * query_depth_ * padded_d_);

    const std::int64_t key_tiles = p.G * key_starts_[N];
    keys_ = scratch.take<KeyValueTile>(key_tiles);
    key_rows_ = scratch.take<float>(key_tiles * key_depth_ * p.D);
    key_columns_ = scratch.take<float>(key_tiles * key_depth_ * padded_d_);
    value_rows_ = scratch.take<float>(key_tiles * key_depth_ * p.Dv);

    scratch_size_ = kernels_.attention_backward_scratch(p.D);
    thread_size_ = scratch_size_ + kKeyTile * (padded_d_ + padded_dv_);
    threads_ = scratch.take<float>(pool_.threads() * thread_size_);
    if (result.alibi_slopes) {
      d_slopes_ = scratch.take<double>(N * chunks_ * p.H);
      std::fill_n(d_slopes_, N * chunks_ * p.H, 0.0);
    }
    if (bias_.bias) {
      bias_size_ = bias_.bias->shape().elements();
      std::fill_n(bias_.data, bias_size_, 0.0f);
      // Chunks would add to the same numbers: each gets its own.
      if (p.mask.slice(0, 0).bias.column_stride == 0) {
        chunk_biases_ = scratch.take<float>(chunks_ * bias_size_);
        std::fill_n(chunk_biases_, chunks_ * bias_size_, 0.0f);
      }
    }
  }

  void run(const float* q, const float* k, const float* v, const Results& results, bool alone) {
    const auto N = static_cast<std::int64_t>(p_.sequences.size());
    pool_.run(p_.H * query_tiles(), alone,
              [&](std::int64_t slot, int) { pack_queries(slot, q, results); });
    pool_.run(key_starts_[N], alone, [&](std::int64_t tile, int) { pack_keys(tile, k, v); });
    if (takes_turns_) {
      // Heads or batches share a bias: one after the other adds to its gradient.
      for (std::int64_t n = 0; n < N; ++n)
        for (std::int64_t g = 0; g < p_.G; ++g)
          pool_.run(chunks_, alone, [&](std::int64_t chunk, int thread) {
            differentiate(static_cast<std::size_t>(n), g, chunk, thread);
          });
    } else {
      pool_.run(N * p_.G * chunks_, alone, [&](std::int64_t piece, int thread) {
        differentiate(static_cast<std::size_t>(piece / (p_.G * chunks_)), piece / chunks_ % p_.G,
                      piece % chunks_, thread);
      });
    }
    pool_.run(p_.H * query_tiles(), alone, [&](std::int64_t slot, int) { store_queries(slot); });
    add_up_heads();
  }

 private:
  static constexpr std::int64_t kFewestPieces = 24;

  static std::int64_t round_up(std::int64_t x, std::int64_t step) noexcept {
    return divide_up(x, step) * step;
  }
  /// So many rows of a tile there is room for.
  static std::int64_t depth_of(std::int64_t tile, std::int64_t count, std::int64_t step) noexcept {
    return std::min(tile, round_up(count, step));
  }
  std::int64_t padded(std::int64_t columns) const noexcept {
    return round_up(columns, kernels_.panel);
  }
  /// Of all sequences, for each head.
  std::int64_t query_tiles() const noexcept { return std::ssize(tiles_); }

  /// Whether each batch entry and head has a part of a bias to itself.
  bool is_whole(const Shape& shape) const noexcept {
    const auto axis = [&](int from_end) { return shape.rank() < from_end ? 1 : shape[-from_end]; };
    return axis(4) == p_.B && axis(3) == p_.H;
  }

  void pack_queries(std::int64_t slot, const float* q, const Results& results) noexcept {
    const ops::QueryTile& at = tiles_[static_cast<std::size_t>(slot % query_tiles())];
    const std::int64_t h = slot / query_tiles();
    const std::int64_t b = p_.batch_of(at.sequence);
    const std::int64_t query = p_.sequences[at.sequence].first_query + at.first;
    kernels::AttentionTile tile = ops::tile_of_scores(p_, options_, at, h);
    tile.q = p_.q_layout.at(q, b, h, query);
    queries_[slot].lse = p_.row_layout.at(results.lse, b, h, query);
    kernels_.pack_backward(
        tile,
        {.output = p_.output_layout.at(results.output, b, h, query),
         .d_output = p_.output_layout.at(results.d_output, b, h, query),
         .d_lse = results.d_lse ? p_.row_layout.at(results.d_lse, b, h, query) : nullptr},
        queries_[slot]);
  }

  /// One tile of keys of all heads.
  void pack_keys(std::int64_t tile, const float* k, const float* v) noexcept {
    const auto n = static_cast<std::size_t>(
        std::upper_bound(key_starts_, key_starts_ + p_.sequences.size() + 1, tile) - key_starts_ -
        1);
    const Sequence& sequence = p_.sequences[n];
    const std::int64_t first = (tile - key_starts_[n]) * kKeyTile;
    const std::int64_t count = std::clamp<std::int64_t>(sequence.visible - first, 0, kKeyTile);
    const std::int64_t b = p_.batch_of(n);
    for (std::int64_t g = 0; g < p_.G; ++g) {
      const std::int64_t slot = key_slot(n, g) + tile - key_starts_[n];
      const float* const key_rows = p_.k_layout.at(k, b, g, sequence.first_key + first);
      const float* const value_rows = p_.v_layout.at(v, b, g, sequence.first_key + first);
      float* const keys = key_rows_ + slot * key_depth_ * p_.D;
      float* const values = value_rows_ + slot * key_depth_ * p_.Dv;
      kernels_.pack_rows(key_rows, static_cast<std::ptrdiff_t>(p_.k_layout.row), count,
                         static_cast<std::ptrdiff_t>(p_.D), keys);
      const bool finite_keys = kernels_.pack_columns(
          key_rows, static_cast<std::ptrdiff_t>(p_.k_layout.row), count,
          static_cast<std::ptrdiff_t>(p_.D), static_cast<std::ptrdiff_t>(key_depth_),
          key_columns_ + slot * key_depth_ * padded_d_);
      kernels_.pack_rows(value_rows, static_cast<std::ptrdiff_t>(p_.v_layout.row), count,
                         static_cast<std::ptrdiff_t>(p_.Dv), values);
      keys_[slot] = {
          .keys = keys,
          .values = values,
          .depth = key_depth_,
          .finite = finite_keys && all_finite(value_rows, p_.v_layout.row, count, p_.Dv)};
    }
  }

  std::int64_t key_slot(std::size_t n, std::int64_t g) const noexcept {
    return key_starts_[n] * p_.G + g * (key_starts_[n + 1] - key_starts_[n]);
  }

  float* d_q(std::int64_t chunk, std::int64_t slot) const noexcept {
    return d_q_ + (chunk * p_.H * query_tiles() + slot) * query_depth_ * padded_d_;
  }

  void differentiate(std::size_t n, std::int64_t g, std::int64_t chunk, int thread) noexcept {
    const std::int64_t group = p_.H / p_.G;
    const std::int64_t queries = query_starts_[n + 1] - query_starts_[n];
    for (std::int64_t h = g * group; h < (g + 1) * group; ++h)
      std::fill_n(d_q(chunk, h * query_tiles() + query_starts_[n]),
                  queries * query_depth_ * padded_d_, 0.0f);
    float* const d_k = threads_ + thread * thread_size_ + scratch_size_;
    float* const d_v = d_k + kKeyTile * padded_d_;
    const std::int64_t key_tiles = key_starts_[n + 1] - key_starts_[n];
    for (std::int64_t tile = chunk; tile < key_tiles; tile += chunks_) {
      std::fill_n(d_k, kKeyTile * (padded_d_ + padded_dv_), 0.0f);
      for (std::int64_t h = g * group; h < (g + 1) * group; ++h)
        for (std::int64_t t = query_starts_[n]; t < query_starts_[n + 1]; ++t)
          differentiate(h, t, tile, chunk, thread, d_k, d_v);
      store_keys(n, g, tile * kKeyTile, d_k, d_v);
    }
  }

  /// A tile of queries and a tile of keys.
  void differentiate(std::int64_t h, std::int64_t t, std::int64_t key_tile, std::int64_t chunk,
                     int thread, float* d_k, float* d_v) noexcept {
    const ops::QueryTile& at = tiles_[static_cast<std::size_t>(t)];
    const std::size_t n = at.sequence;
    const Sequence& sequence = p_.sequences[n];
    const kernels::VisibleKeys visible = p_.visible(n);
    const std::int64_t first = key_tile * kKeyTile;
    const std::int64_t last_query = std::min(at.first + kQueryTile, sequence.queries) - 1;
    const std::int64_t begin = visible.begin_of(at.first);
    const std::int64_t end = visible.end_of(last_query);
    if (begin >= end || end <= first || begin >= first + kKeyTile) return;
    const std::int64_t b = p_.batch_of(n);
    const std::int64_t query_slot = h * query_tiles() + t;
    const std::int64_t key_slot0 = key_slot(n, h / (p_.H / p_.G));
    const std::int64_t slot = key_slot0 + key_tile;
    kernels::BackwardTile tile = {
        .scores = ops::tile_of_scores(p_, options_, at, h),
        .queries = queries_[query_slot],
        .first_key = first,
        .keys = static_cast<int>(std::min<std::int64_t>(kKeyTile, sequence.visible - first)),
        .key_columns = key_columns_ + slot * key_depth_ * padded_d_,
        .value_rows = keys_[slot].values,
        .depth = key_depth_,
        .finite = keys_[slot].finite,
        .d_q = d_q(chunk, query_slot),
        .d_k = d_k,
        .d_v = d_v,
        .d_bias = bias_of_chunk(chunk).slice(p_, b, h),
        .d_slope = d_slopes_ ? slope(n, chunk, h) : nullptr,
    };
    tile.scores.packed_q = queries_[query_slot].q;
    tile.scores.tiles = keys_ + key_slot0;
    tile.scores.scratch = threads_ + thread * thread_size_;
    kernels_.attention_backward(tile);
  }

  BiasGradient bias_of_chunk(std::int64_t chunk) const noexcept {
    return chunk_biases_ ? BiasGradient{bias_.bias, chunk_biases_ + chunk * bias_size_} : bias_;
  }

  double* slope(std::size_t n, std::int64_t chunk, std::int64_t h) const noexcept {
    return d_slopes_ + (static_cast<std::int64_t>(n) * chunks_ + chunk) * p_.H + h;
  }

  void store_keys(std::size_t n, std::int64_t g, std::int64_t first, const float* d_k,
                  const float* d_v) noexcept {
    const Sequence& sequence = p_.sequences[n];
    const std::int64_t b = p_.batch_of(n);
    const std::int64_t end = std::min(first + kKeyTile, sequence.keys);
    const auto row = [&](Tensor& fresh, const ops::Layout& layout, std::optional<Tensor>& past,
                         std::int64_t j, std::int64_t size) {
      if (j < p_.past) return past->data().data() + ((b * p_.G + g) * p_.past + j) * size;
      return layout.at(fresh.data().data(), b, g, sequence.first_key + j - p_.past);
    };
    for (std::int64_t j = first; j < end; ++j, d_k += padded_d_, d_v += padded_dv_) {
      std::transform(d_k, d_k + p_.D, row(result_.k, new_k_layout_, result_.past_key, j, p_.D),
                     [&](float x) { return x * p_.scale; });
      std::copy_n(d_v, p_.Dv, row(result_.v, new_v_layout_, result_.past_value, j, p_.Dv));
    }
  }

  void store_queries(std::int64_t slot) noexcept {
    const ops::QueryTile& at = tiles_[static_cast<std::size_t>(slot % query_tiles())];
    const Sequence& sequence = p_.sequences[at.sequence];
    const std::int64_t count = std::min<std::int64_t>(kQueryTile, sequence.queries - at.first);
    for (std::int64_t r = 0; r < count; ++r) {
      float* const to = p_.q_layout.at(result_.q.data().data(), p_.batch_of(at.sequence),
                                       slot / query_tiles(), sequence.first_query + at.first + r);
      std::fill_n(to, p_.D, 0.0f);
      for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const float* const part = d_q(chunk, slot) + r * padded_d_;
        for (std::int64_t d = 0; d < p_.D; ++d) to[d] += part[d];
      }
      for (std::int64_t d = 0; d < p_.D; ++d) to[d] *= p_.scale;
    }
  }

  void add_up_heads() noexcept {
    if (chunk_biases_)
      for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
        for (std::int64_t i = 0; i < bias_size_; ++i)
          bias_.data[i] += chunk_biases_[chunk * bias_size_ + i];
    for (std::int64_t h = 0; h < p_.H; ++h) {
      const auto head = static_cast<std::size_t>(h);
      if (result_.alibi_slopes) {
        double sum = 0.0;
        for (std::size_t n = 0; n < p_.sequences.size(); ++n)
          for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) sum += *slope(n, chunk, h);
        result_.alibi_slopes->data()[head] = static_cast<float>(sum);
      }
      if (result_.sinks) result_.sinks->data()[head] = sink_gradient(h);
    }
  }

  /// The sink has the weight exp(sink - lse) in each row, and no value.
  float sink_gradient(std::int64_t h) const noexcept {
    const float sink = options_.sinks->data<float>()[static_cast<std::size_t>(h)];
    double sum = 0.0;
    if (std::isinf(sink) && sink < 0) return 0.0f;
    for (std::int64_t t = 0; t < query_tiles(); ++t) {
      const ops::QueryTile& at = tiles_[static_cast<std::size_t>(t)];
      const std::int64_t count =
          std::min<std::int64_t>(kQueryTile, p_.sequences[at.sequence].queries - at.first);
      const BackwardQueries& queries = queries_[h * query_tiles() + t];
      for (std::int64_t r = 0; r < count; ++r)
        sum -= std::exp(static_cast<double>(sink) - static_cast<double>(queries.lse[r])) *
               static_cast<double>(queries.delta[r]);
    }
    return static_cast<float>(sum);
  }

  const AttentionProblem& p_;
  ops::Layout new_k_layout_, new_v_layout_;
  const AttentionOptions& options_;
  AttentionGradients& result_;
  const kernels::KernelTable& kernels_;
  ThreadPool& pool_;
  std::span<const ops::QueryTile> tiles_;
  std::int64_t query_depth_, key_depth_;
  std::int64_t padded_d_, padded_dv_;
  std::int64_t* query_starts_;  // of each sequence's tiles
  std::int64_t* key_starts_;    // the same, as if there were one head
  std::int64_t chunks_;
  BackwardQueries* queries_;  // [H, query tiles]
  float* d_q_;                // [chunks, H, query tiles, query_depth_, padded_d_]
  KeyValueTile* keys_;        // sequence by sequence, then head by head; values are by rows too
  float* key_rows_;
  float* key_columns_;
  float* value_rows_;
  std::int64_t scratch_size_;
  std::int64_t thread_size_;
  float* threads_;              // scratch, d_k and d_v of each thread
  double* d_slopes_ = nullptr;  // [sequences, chunks, H]
  BiasGradient bias_;
  bool takes_turns_;  // batch entries and heads add to the same part of it
  std::int64_t bias_size_ = 0;
  float* chunk_biases_ = nullptr;  // [chunks, bias_size_]
};

void require_gradient(std::string_view name, bool needed, std::string_view what, bool given) {
  if (needed && !given) throw OptionError(name, "false without " + std::string(what), "true");
}

AttentionGradients allocate(const TensorView& q, const TensorView& k, const TensorView& v,
                            const AttentionOptions& options,
                            const AttentionGradientOptions& needed) {
  AttentionGradients result;
  result.q = Tensor(q.shape());
  result.k = Tensor(k.shape());
  result.v = Tensor(v.shape());
  const auto make = [](bool wanted, std::optional<Tensor>& gradient,
                       const std::optional<TensorView>& like) {
    if (wanted && like) gradient.emplace(like->shape());
  };
  make(needed.need_mask, result.mask, options.mask);
  make(needed.need_bias, result.bias, options.bias);
  make(needed.need_alibi_slopes, result.alibi_slopes, options.alibi_slopes);
  make(needed.need_sinks, result.sinks, options.sinks);
  make(true, result.past_key, options.past_key);
  make(true, result.past_value, options.past_value);
  return result;
}

}  // namespace

AttentionGradients attention_backward(Context& context, const TensorView& d_output,
                                      const TensorView& q, const TensorView& k, const TensorView& v,
                                      const TensorView& output, const TensorView& lse,
                                      const AttentionOptions& options,
                                      const AttentionGradientOptions& gradient_options) {
  const AttentionGradientOptions& needed = gradient_options;
  if (options.cache) throw OptionError("cache", "none, because it keeps no gradients", "one");
  if (options.precision != Precision::kFloat32)
    throw OptionError("precision", "float32 for gradients", "int8-scores");
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  AttentionProblem p(q, k, v, options, scratch);
  ops::require_floats("d_output", d_output, p.output_shape);
  ops::require_floats("output", output, p.output_shape);
  ops::require_floats("lse", lse, p.row_shape);
  if (needed.d_lse) ops::require_floats("d_lse", *needed.d_lse, p.row_shape);
  require_gradient("need_mask", needed.need_mask, "a float32 mask",
                   options.mask && options.mask->dtype() == DType::kFloat32);
  require_gradient("need_bias", needed.need_bias, "a bias", options.bias.has_value());
  require_gradient("need_alibi_slopes", needed.need_alibi_slopes, "slopes",
                   options.alibi_slopes.has_value());
  require_gradient("need_sinks", needed.need_sinks, "sinks", options.sinks.has_value());

  AttentionGradients result = allocate(q, k, v, options, needed);
  const ops::Layout new_k_layout = p.k_layout, new_v_layout = p.v_layout;
  const float* k_data = k.data<float>().data();
  const float* v_data = v.data<float>().data();
  std::optional<Tensor> all_keys, all_values;
  if (options.past_key) {
    k_data =
        all_keys.emplace(ops::append(*options.past_key, k, p.k_layout, p.S - p.past)).data().data();
    v_data = all_values.emplace(ops::append(*options.past_value, v, p.v_layout, p.S - p.past))
                 .data()
                 .data();
    p.k_layout = {p.G * p.S * p.D, p.S * p.D, p.D};
    p.v_layout = {p.G * p.S * p.Dv, p.S * p.Dv, p.Dv};
  }
  TiledBackward backward(p, new_k_layout, new_v_layout, options, result, runtime, scratch);
  backward.run(q.data<float>().data(), k_data, v_data,
               {.output = output.data<float>().data(),
                .lse = lse.data<float>().data(),
                .d_output = d_output.data<float>().data(),
                .d_lse = ops::data_or_null(needed.d_lse)},
               ops::operations(p) < ops::kWorthSharing);
  return result;
}

}  // namespace heed
