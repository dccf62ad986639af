#include <algorithm>
#include <cmath>

#include "kernels/elementary.hpp"
#include "ops/attention/backward_operands.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using kernels::kKeyTile;
using ops::AttentionProblem;
using ops::Sequence;

/// The gradient of the float mask or of the bias; a call has at most one of them.
struct BiasGradient {
  const TensorView* bias = nullptr;
  float* data = nullptr;

  /// The slice for (b, h) has the same strides as the slice of the bias.
  float* slice(const AttentionProblem& p, std::int64_t b, std::int64_t h) const noexcept {
    return bias ? data + (p.mask.slice(b, h).bias.data - bias->data<float>().data()) : nullptr;
  }
};

/// The backward pass by chunks. The constructor takes all the memory that is needed.
///
/// The unit of work is a chunk: every n-th tile of keys of one key/value head, where n is the
/// number of chunks. So the chunks of a head have about the same work under a causal mask. For each
/// of its tiles of keys, a chunk goes through all queries. It sums the gradients of the keys and
/// values of the tile, and adds the gradients of the queries to its own array. These arrays are
/// added at the end, in the order of the chunks. The number of chunks depends on the sizes alone.
class TiledBackward {
 public:
  /// The layouts describe the arguments k and v; p describes k and v after the past.
  TiledBackward(const AttentionProblem& p, const ops::Layout& new_k_layout,
                const ops::Layout& new_v_layout, const AttentionOptions& options,
                AttentionGradients& result, Context::Runtime& runtime, Arena::Scope& scratch)
      : p_(p),
        new_k_layout_(new_k_layout),
        new_v_layout_(new_v_layout),
        result_(result),
        kernels_(runtime.kernels()),
        pool_(runtime.pool()),
        bias_(bias_of(options, result)),
        shares_bias_(bias_.bias && !is_whole(bias_.bias->shape())),
        concurrent_heads_(shares_bias_ ? 1
                                       : std::max<std::int64_t>(1, std::ssize(p.sequences) * p.G)),
        max_chunks_(std::clamp<std::int64_t>(kMinPieces / concurrent_heads_, 1, kMaxChunks)),
        by_heads_(!shares_bias_ && max_chunks_ == 1),
        operands_(p, options, kernels_, by_heads_ ? pool_.threads() : 0, scratch),
        padded_d_(ops::round_up(p.D, kernels_.panel)),
        padded_dv_(ops::round_up(p.Dv, kernels_.panel)),
        d_q_size_(operands_.query_depth() * padded_d_),
        scratch_size_(kernels_.attention.backward_scratch(p.D)),
        thread_size_(scratch_size_ + kKeyTile * (padded_d_ + padded_dv_)),
        threads_(scratch.take<float>(pool_.threads() * thread_size_)) {
    const auto N = static_cast<std::int64_t>(p.sequences.size());
    std::int64_t max_key_tiles = 0;
    for (std::size_t n = 0; n < p.sequences.size(); ++n)
      max_key_tiles = std::max(max_key_tiles, operands_.key_tiles(n));
    chunks_ = std::min(max_key_tiles, max_chunks_);

    d_q_ = scratch.take<float>(chunks_ * operands_.query_slots() * d_q_size_);
    for (const std::optional<Tensor>* const sums : {&result.alibi_slopes, &result.sinks})
      if (*sums) max_head_numbers_ = std::max(max_head_numbers_, (*sums)->shape().elements());
    head_numbers_ = scratch.take<double>(max_head_numbers_);
    if (result.alibi_slopes) {
      d_slopes_ = scratch.take<double>(N * chunks_ * p.H);
      std::fill_n(d_slopes_, N * chunks_ * p.H, 0.0);
    }
    if (bias_.bias) {
      bias_size_ = bias_.bias->shape().elements();
      std::fill_n(bias_.data, bias_size_, 0.0f);
      // The keys of a row share a number of the bias, so several chunks would add to the same
      // number. Each chunk has its own array instead.
      if (p.mask.slice(0, 0).bias.column_stride == 0) {
        chunk_biases_ = scratch.take<float>(chunks_ * bias_size_);
        std::fill_n(chunk_biases_, chunks_ * bias_size_, 0.0f);
      }
    }
  }

  void run(const float* q, const ops::KeyValueRows& rows, const ops::AttentionOutputs& outputs,
           double operations) {
    const auto N = static_cast<std::int64_t>(p_.sequences.size());
    const std::int64_t query_tiles = operands_.query_tiles();
    if (by_heads_) {
      pool_.run(N * p_.G, operations, [&](std::int64_t piece, int thread) {
        differentiate_head(static_cast<std::size_t>(piece / p_.G), piece % p_.G, thread, q, rows,
                           outputs);
      });
      return add_up_heads();
    }
    pool_.run(p_.H * query_tiles, operations, [&](std::int64_t piece, int) {
      operands_.pack_queries(piece / query_tiles, piece % query_tiles, 0, q, outputs);
    });
    pool_.run(operands_.all_key_tiles(), operations,
              [&](std::int64_t tile, int) { operands_.pack_keys(tile, rows.keys, rows.values); });
    if (shares_bias_) {
      // Heads or batch entries that share a bias add to its gradient one after the other.
      for (std::int64_t n = 0; n < N; ++n)
        for (std::int64_t g = 0; g < p_.G; ++g)
          pool_.run(chunks_, operations, [&](std::int64_t chunk, int thread) {
            differentiate(static_cast<std::size_t>(n), g, chunk, thread);
          });
    } else {
      pool_.run(N * p_.G * chunks_, operations, [&](std::int64_t piece, int thread) {
        differentiate(static_cast<std::size_t>(piece / (p_.G * chunks_)), piece / chunks_ % p_.G,
                      piece % chunks_, thread);
      });
    }
    pool_.run(p_.H * query_tiles, operations, [&](std::int64_t piece, int) {
      store_queries(piece / query_tiles, piece % query_tiles, 0);
    });
    add_up_heads();
  }

 private:
  // With few heads there are several chunks, so that several threads have work. Each chunk needs
  // its own array of gradients of the queries, hence the maximum.
  static constexpr std::int64_t kMinPieces = 24;
  static constexpr std::int64_t kMaxChunks = 8;

  /// Whether each batch entry and head has its own part of a bias.
  bool is_whole(const Shape& shape) const noexcept {
    const auto axis = [&](int from_end) { return shape.rank() < from_end ? 1 : shape[-from_end]; };
    return axis(4) == p_.B && axis(3) == p_.H;
  }

  static BiasGradient bias_of(const AttentionOptions& options, AttentionGradients& result) {
    if (result.bias) return {&*options.bias, result.bias->data().data()};
    if (result.mask) return {&*options.mask, result.mask->data().data()};
    return {};
  }

  float* d_q(std::int64_t chunk, std::int64_t h, std::int64_t t, int thread) const noexcept {
    return d_q_ +
           (chunk * operands_.query_slots() + operands_.query_slot(h, t, thread)) * d_q_size_;
  }

  /// All the work of a key/value head that has a single chunk.
  void differentiate_head(std::size_t n, std::int64_t g, int thread, const float* q,
                          const ops::KeyValueRows& rows,
                          const ops::AttentionOutputs& outputs) noexcept {
    const std::int64_t group = p_.H / p_.G;
    const auto for_queries = [&](const auto& task) {
      for (std::int64_t h = g * group; h < (g + 1) * group; ++h)
        for (std::int64_t t = operands_.first_query_tile(n); t < operands_.first_query_tile(n + 1);
             ++t)
          task(h, t);
    };
    for_queries(
        [&](std::int64_t h, std::int64_t t) { operands_.pack_queries(h, t, thread, q, outputs); });
    for (std::int64_t tile = 0; tile < operands_.key_tiles(n); ++tile)
      operands_.pack_keys(n, g, tile, thread, rows.keys, rows.values);
    if (chunks_ > 0) differentiate(n, g, 0, thread);
    for_queries([&](std::int64_t h, std::int64_t t) { store_queries(h, t, thread); });
  }

  void differentiate(std::size_t n, std::int64_t g, std::int64_t chunk, int thread) noexcept {
    const std::int64_t group = p_.H / p_.G;
    const std::int64_t begin = operands_.first_query_tile(n);
    const std::int64_t end = operands_.first_query_tile(n + 1);
    for (std::int64_t h = g * group; h < (g + 1) * group; ++h)
      if (begin < end) std::fill_n(d_q(chunk, h, begin, thread), (end - begin) * d_q_size_, 0.0f);
    float* const d_k = threads_ + thread * thread_size_ + scratch_size_;
    float* const d_v = d_k + kKeyTile * padded_d_;
    for (std::int64_t tile = chunk; tile < operands_.key_tiles(n); tile += chunks_) {
      const std::int64_t keys =
          std::min<std::int64_t>(kKeyTile, p_.sequences[n].keys - tile * kKeyTile);
      std::fill_n(d_k, keys * padded_d_, 0.0f);
      std::fill_n(d_v, keys * padded_dv_, 0.0f);
      for (std::int64_t h = g * group; h < (g + 1) * group; ++h)
        for (std::int64_t t = begin; t < end; ++t)
          if (may_see(t, tile) && !pool_.is_cancelled())
            differentiate(h, t, tile, chunk, thread, d_k, d_v);
      store_keys(n, g, tile * kKeyTile, keys, d_k, d_v);
    }
  }

  /// Whether a query of tile t sees a key of a tile, apart from masks.
  bool may_see(std::int64_t t, std::int64_t key_tile) const noexcept {
    const ops::QueryTile& at = operands_.tile(t);
    const kernels::VisibleKeys visible = p_.visible(at.sequence);
    const std::int64_t begin = visible.begin_of(at.first);
    const std::int64_t end = visible.end_of(at.first + operands_.count(t) - 1);
    return begin < end && key_tile * kKeyTile < end && begin < (key_tile + 1) * kKeyTile;
  }

  /// A tile of queries and a tile of keys.
  void differentiate(std::int64_t h, std::int64_t t, std::int64_t key_tile, std::int64_t chunk,
                     int thread, float* d_k, float* d_v) noexcept {
    const std::size_t n = operands_.tile(t).sequence;
    kernels::BackwardTile pair = operands_.pair(h, t, key_tile);
    pair.scores.scratch = threads_ + thread * thread_size_;
    pair.d_q = d_q(chunk, h, t, thread);
    pair.d_k = d_k;
    pair.d_v = d_v;
    pair.d_bias = bias_of_chunk(chunk).slice(p_, p_.batch_of(n), h);
    pair.d_slope = d_slopes_ ? slope(n, chunk, h) : nullptr;
    kernels_.attention.backward(pair);
  }

  BiasGradient bias_of_chunk(std::int64_t chunk) const noexcept {
    return chunk_biases_ ? BiasGradient{bias_.bias, chunk_biases_ + chunk * bias_size_} : bias_;
  }

  double* slope(std::size_t n, std::int64_t chunk, std::int64_t h) const noexcept {
    return d_slopes_ + (static_cast<std::int64_t>(n) * chunks_ + chunk) * p_.H + h;
  }

  /// The gradients of the past come first, then the gradients of the new keys and values.
  void store_keys(std::size_t n, std::int64_t g, std::int64_t first, std::int64_t count,
                  const float* d_k, const float* d_v) noexcept {
    const std::int64_t b = p_.batch_of(n);
    const std::int64_t old = std::clamp<std::int64_t>(p_.past - first, 0, count);
    const auto store = [&](const float* from, std::int64_t padded, std::int64_t size, float scale,
                           Tensor& fresh, const ops::Layout& layout, std::optional<Tensor>& past) {
      kernels::GradientRows rows = {.from = from,
                                    .from_stride = static_cast<std::ptrdiff_t>(padded),
                                    .count = old,
                                    .size = size,
                                    .to = nullptr,
                                    .to_stride = static_cast<std::ptrdiff_t>(size),
                                    .scale = scale};
      if (old > 0) {
        rows.to = past->data().data() + ((b * p_.G + g) * p_.past + first) * size;
        kernels_.attention.store_gradient(rows);
      }
      if (old == count) return;
      rows.from += old * padded;
      rows.count = count - old;
      rows.to =
          layout.at(fresh.data().data(), b, g, p_.sequences[n].first_key + first + old - p_.past);
      rows.to_stride = static_cast<std::ptrdiff_t>(layout.row);
      kernels_.attention.store_gradient(rows);
    };
    store(d_k, padded_d_, p_.D, p_.scale, result_.k, new_k_layout_, result_.past_key);
    store(d_v, padded_dv_, p_.Dv, 1.0f, result_.v, new_v_layout_, result_.past_value);
  }

  void store_queries(std::int64_t h, std::int64_t t, int thread) noexcept {
    const ops::QueryTile& at = operands_.tile(t);
    const std::int64_t query = p_.sequences[at.sequence].first_query + at.first;
    kernels_.attention.store_gradient({
        .from = d_q(0, h, t, thread),
        .from_stride = static_cast<std::ptrdiff_t>(padded_d_),
        .count = operands_.count(t),
        .size = p_.D,
        .to = p_.q_layout.at(result_.q.data().data(), p_.batch_of(at.sequence), h, query),
        .to_stride = static_cast<std::ptrdiff_t>(p_.q_layout.row),
        .scale = p_.scale,
        .parts = chunks_,
        .part_stride = static_cast<std::ptrdiff_t>(operands_.query_slots() * d_q_size_),
    });
  }

  void add_up_heads() noexcept {
    if (chunk_biases_)
      for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
        for (std::int64_t i = 0; i < bias_size_; ++i)
          bias_.data[i] += chunk_biases_[chunk * bias_size_ + i];
    if (result_.alibi_slopes)
      add_up(p_.alibi_slopes, *result_.alibi_slopes, [&](std::int64_t h, const auto& add) {
        for (std::size_t n = 0; n < p_.sequences.size(); ++n)
          for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) add(n, *slope(n, chunk, h));
      });
    if (result_.sinks)
      add_up(p_.sinks, *result_.sinks, [&](std::int64_t h, const auto& add) {
        for (std::int64_t t = 0; t < operands_.query_tiles(); ++t)
          add(operands_.tile(t).sequence, sink_gradient(h, t));
      });
  }

  /// Writes the gradients of numbers that heads and sequences may share, such as slopes: for each
  /// head, terms(h, add) calls add(n, x) for each term x of sequence n.
  template <class Terms>
  void add_up(const ops::HeadNumbers& numbers, Tensor& to, const Terms& terms) noexcept {
    std::fill_n(head_numbers_, to.shape().elements(), 0.0);
    for (std::int64_t h = 0; h < p_.H; ++h)
      terms(h, [&](std::size_t n, double term) { head_numbers_[numbers.index(n, h)] += term; });
    std::ranges::transform(head_numbers_, head_numbers_ + to.shape().elements(), to.data().begin(),
                           [](double sum) { return static_cast<float>(sum); });
  }

  /// The gradient of a sink from a tile of queries: it has a weight in each row, and no value.
  double sink_gradient(std::int64_t h, std::int64_t t) const noexcept {
    const float sink = *p_.sinks.at(operands_.tile(t).sequence, h);
    if (std::isinf(sink) && sink < 0) return 0.0;
    const kernels::BackwardQueries& queries = operands_.queries(h, t);
    double sum = 0.0;
    for (std::int64_t r = 0; r < operands_.count(t); ++r)
      sum -=
          kernels::exponential(static_cast<double>(sink) - static_cast<double>(queries.shifts[r])) *
          static_cast<double>(queries.scales[r]) * static_cast<double>(queries.delta[r]);
    return sum;
  }

  const AttentionProblem& p_;
  ops::Layout new_k_layout_, new_v_layout_;
  AttentionGradients& result_;
  const kernels::KernelTable& kernels_;
  ThreadPool& pool_;
  BiasGradient bias_;
  bool shares_bias_;  // whether batch entries or heads add to the same part of it
  std::int64_t concurrent_heads_, max_chunks_;
  bool by_heads_;  // each key/value head is packed, computed and stored separately
  ops::BackwardOperands operands_;
  std::int64_t padded_d_, padded_dv_;
  std::int64_t d_q_size_;
  std::int64_t scratch_size_;
  std::int64_t thread_size_;
  float* threads_;  // scratch, d_k and d_v of each thread
  std::int64_t chunks_;
  float* d_q_;                  // [chunks, query slots, d_q_size_]
  double* d_slopes_ = nullptr;  // [sequences, chunks, H]
  std::int64_t max_head_numbers_ = 0;
  double* head_numbers_;  // [max_head_numbers_] sums of gradients
  std::int64_t bias_size_ = 0;
  float* chunk_biases_ = nullptr;  // [chunks, bias_size_]
};

void require_gradient(const char* name, bool needed, const char* what, bool given) {
  if (needed && !given)
    ops::refuse<OptionError>(name, "false without " + std::string(what), "true");
}

}  // namespace

AttentionGradients attention_backward(Context& context, const TensorView& d_output,
                                      const TensorView& q, const TensorView& k, const TensorView& v,
                                      const TensorView& output, const TensorView& statistics,
                                      const AttentionOptions& options,
                                      const AttentionGradientOptions& needed) {
  if (options.cache)
    ops::refuse<OptionError>("cache", "none, because it keeps no gradients", "one");
  if (options.precision != Precision::kFloat32)
    ops::refuse<OptionError>("precision", "float32 for gradients", "int8-scores");
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  AttentionProblem p(q, k, v, options, scratch);
  ops::require_floats("d_output", d_output, p.output_shape);
  ops::require_floats("output", output, p.output_shape);
  ops::require_floats("statistics", statistics, ops::statistics_shape(p));
  if (needed.d_lse) ops::require_floats("d_lse", *needed.d_lse, p.row_shape);
  require_gradient("need_mask", needed.need_mask, "a float32 mask",
                   options.mask && options.mask->dtype() == DType::kFloat32);
  require_gradient("need_bias", needed.need_bias, "a bias", options.bias.has_value());
  require_gradient("need_alibi_slopes", needed.need_alibi_slopes, "slopes",
                   options.alibi_slopes.has_value());
  require_gradient("need_sinks", needed.need_sinks, "sinks", options.sinks.has_value());

  AttentionGradients result = ops::allocate(q, k, v, options, needed);
  if (p.sequences.empty()) {
    ops::clear(result);
    return result;
  }
  const ops::Layout new_k_layout = p.k_layout, new_v_layout = p.v_layout;
  std::optional<Tensor> all_keys, all_values;
  const ops::KeyValueRows rows = ops::join_past(p, options, k, v, all_keys, all_values);
  TiledBackward backward(p, new_k_layout, new_v_layout, options, result, runtime, scratch);
  // The backward pass has five products, the forward pass two.
  const double operations = 2.5 * ops::operations(p);
  const float* const maxima = statistics.data<float>().data();
  backward.run(q.data<float>().data(), rows,
               {.output = output.data<float>().data(),
                .maxima = maxima,
                .sums = maxima + p.row_shape.elements(),
                .d_output = d_output.data<float>().data(),
                .d_lse = ops::data_or_null(needed.d_lse)},
               operations);
  return result;
}

}  // namespace heed
