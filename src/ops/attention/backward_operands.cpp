#include "ops/attention/backward_operands.hpp"

#include <algorithm>

#include "ops/validate.hpp"

namespace heed::ops {

using kernels::kKeyTile;
using kernels::kQueryTile;

BackwardOperands::BackwardOperands(const AttentionProblem& p, const AttentionOptions& options,
                                   const kernels::KernelTable& kernels, std::int64_t regions,
                                   Arena::Scope& scratch)
    : p_(p),
      options_(options),
      kernels_(kernels),
      tiles_(ops::query_tiles(p, scratch)),
      query_depth_(std::min<std::int64_t>(kQueryTile, round_up(p.L, kernels.rows))),
      key_depth_(std::min<std::int64_t>(kKeyTile, round_up(p.S, kernels.panel))),
      regions_(regions) {
  const std::size_t N = p.sequences.size();
  query_starts_ = scratch.take<std::int64_t>(static_cast<std::int64_t>(N) + 1);
  key_starts_ = scratch.take<std::int64_t>(static_cast<std::int64_t>(N) + 1);
  query_starts_[0] = key_starts_[0] = 0;
  for (std::size_t n = 0; n < N; ++n) {
    query_starts_[n + 1] = query_starts_[n] + divide_up(p.sequences[n].queries, kQueryTile);
    key_starts_[n + 1] = key_starts_[n] + divide_up(p.sequences[n].keys, kKeyTile);
    max_query_tiles_ = std::max(max_query_tiles_, query_starts_[n + 1] - query_starts_[n]);
    max_key_tiles_ = std::max(max_key_tiles_, key_tiles(n));
  }

  const std::int64_t count = p.H * query_tiles();
  queries_ = scratch.take<kernels::BackwardQueries>(count);
  float* rows = scratch.take<float>(3 * count * kQueryTile);
  for (std::int64_t i = 0; i < count; ++i, rows += 3 * kQueryTile) {
    queries_[i].depth = query_depth_;
    queries_[i].delta = rows;
    queries_[i].shifts = rows + kQueryTile;
    queries_[i].scales = rows + 2 * kQueryTile;
  }
  query_slots_ = regions ? regions * (p.H / p.G) * max_query_tiles_ : count;
  constexpr std::int64_t kMaxLanes = 16;  // floats in 64 bytes: multiples of it are aligned
  q_size_ = round_up(query_depth_ * p.D, kMaxLanes);
  d_output_size_ = round_up(query_depth_ * p.Dv, kMaxLanes);
  q_columns_size_ = query_depth_ * round_up(p.D, kernels.panel);
  d_output_columns_size_ = query_depth_ * round_up(p.Dv, kernels.panel);
  q_ = scratch.take<float>(query_slots_ * q_size_);
  d_output_ = scratch.take<float>(query_slots_ * d_output_size_);
  q_columns_ = scratch.take<float>(query_slots_ * q_columns_size_);
  d_output_columns_ = scratch.take<float>(query_slots_ * d_output_columns_size_);

  const std::int64_t key_tiles = p.G * all_key_tiles();
  const std::int64_t key_slots = regions ? regions * max_key_tiles_ : key_tiles;
  key_columns_size_ = key_depth_ * round_up(p.D, kernels.panel);
  keys_ = scratch.take<kernels::KeyValueTile>(key_tiles);
  columns_ = scratch.take<const float*>(key_tiles);
  key_rows_ = scratch.take<float>(key_slots * key_depth_ * p.D);
  value_rows_ = scratch.take<float>(key_slots * key_depth_ * p.Dv);
  key_columns_ = scratch.take<float>(key_slots * key_columns_size_);
}

std::int64_t BackwardOperands::query_slot(std::int64_t h, std::int64_t t,
                                          std::int64_t region) const noexcept {
  if (regions_ == 0) return h * query_tiles() + t;
  const std::int64_t group = p_.H / p_.G;
  return (region * group + h % group) * max_query_tiles_ + t - query_starts_[tile(t).sequence];
}

std::int64_t BackwardOperands::count(std::int64_t t) const noexcept {
  const QueryTile& at = tile(t);
  return std::min<std::int64_t>(kQueryTile, p_.sequences[at.sequence].queries - at.first);
}

void BackwardOperands::pack_queries(std::int64_t h, std::int64_t t, std::int64_t region,
                                    const float* q, const AttentionOutputs& outputs) noexcept {
  const QueryTile& at = tile(t);
  const std::int64_t b = p_.batch_of(at.sequence);
  const std::int64_t query = p_.sequences[at.sequence].first_query + at.first;
  kernels::BackwardQueries& queries = queries_[h * query_tiles() + t];
  kernels::AttentionTile tile = tile_of_scores(p_, options_, at, h);
  tile.q = p_.q_layout.at(q, b, h, query);
  const std::int64_t slot = query_slot(h, t, region);
  queries.q = q_ + slot * q_size_;
  queries.d_output = d_output_ + slot * d_output_size_;
  queries.q_columns = q_columns_ + slot * q_columns_size_;
  queries.d_output_columns = d_output_columns_ + slot * d_output_columns_size_;
  kernels_.attention.pack_backward(
      tile,
      {.output = p_.output_layout.at(outputs.output, b, h, query),
       .d_output = p_.output_layout.at(outputs.d_output, b, h, query),
       .d_lse = outputs.d_lse ? p_.row_layout.at(outputs.d_lse, b, h, query) : nullptr,
       .maxima = p_.row_layout.at(outputs.maxima, b, h, query),
       .sums = p_.row_layout.at(outputs.sums, b, h, query)},
      queries);
}

void BackwardOperands::pack_keys(std::int64_t tile, const float* k, const float* v) noexcept {
  const auto n = static_cast<std::size_t>(
      std::upper_bound(key_starts_, key_starts_ + p_.sequences.size() + 1, tile) - key_starts_ - 1);
  for (std::int64_t g = 0; g < p_.G; ++g) pack_keys(n, g, tile - key_starts_[n], 0, k, v);
}

void BackwardOperands::pack_keys(std::size_t n, std::int64_t g, std::int64_t tile,
                                 std::int64_t region, const float* k, const float* v) noexcept {
  const Sequence& sequence = p_.sequences[n];
  const std::int64_t first = tile * kKeyTile;
  const std::int64_t count = std::clamp<std::int64_t>(sequence.visible - first, 0, kKeyTile);
  const std::int64_t b = p_.batch_of(n);
  const auto k_stride = static_cast<std::ptrdiff_t>(p_.k_layout.row);
  const auto v_stride = static_cast<std::ptrdiff_t>(p_.v_layout.row);
  const auto D = static_cast<std::ptrdiff_t>(p_.D), Dv = static_cast<std::ptrdiff_t>(p_.Dv);
  const std::int64_t number = key_slot(n, g) + tile;
  const std::int64_t slot = regions_ ? region * max_key_tiles_ + tile : number;
  const float* const key_rows = p_.k_layout.at(k, b, g, sequence.first_key + first);
  const float* const value_rows = p_.v_layout.at(v, b, g, sequence.first_key + first);
  float* const keys = key_rows_ + slot * key_depth_ * p_.D;
  float* const values = value_rows_ + slot * key_depth_ * p_.Dv;
  float* const columns = key_columns_ + slot * key_columns_size_;
  kernels_.product.pack_rows(key_rows, k_stride, count, D, keys);
  kernels_.product.pack_rows(value_rows, v_stride, count, Dv, values);
  const bool finite_keys = kernels_.product.pack_columns(
      key_rows, k_stride, count, D, static_cast<std::ptrdiff_t>(key_depth_), columns);
  keys_[number] = {
      .keys = keys,
      .values = values,
      .depth = key_depth_,
      .finite = finite_keys && kernels_.product.all_finite(value_rows, v_stride, count, Dv)};
  columns_[number] = columns;
}

kernels::BackwardTile BackwardOperands::pair(std::int64_t h, std::int64_t t,
                                             std::int64_t key_tile) const noexcept {
  const QueryTile& at = tile(t);
  const std::int64_t first_slot = key_slot(at.sequence, h / (p_.H / p_.G));
  const std::int64_t slot = first_slot + key_tile;
  const std::int64_t first_key = key_tile * kKeyTile;
  const std::int64_t keys = p_.sequences[at.sequence].visible - first_key;
  kernels::BackwardTile pair = {
      .scores = tile_of_scores(p_, options_, at, h),
      .queries = queries(h, t),
      .first_key = first_key,
      .keys = static_cast<int>(std::clamp<std::int64_t>(keys, 0, kKeyTile)),
      .key_columns = columns_[slot],
      .value_rows = keys_[slot].values,
      .depth = key_depth_,
      .finite = keys_[slot].finite,
  };
  pair.scores.packed_q = pair.queries.q;
  pair.scores.tiles = keys_ + first_slot;
  return pair;
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

void clear(AttentionGradients& gradients) {
  for (Tensor* const gradient : {&gradients.q, &gradients.k, &gradients.v})
    std::ranges::fill(gradient->data(), 0.0f);
  for (std::optional<Tensor>* const gradient :
       {&gradients.mask, &gradients.bias, &gradients.alibi_slopes, &gradients.sinks,
        &gradients.past_key, &gradients.past_value})
    if (*gradient) std::ranges::fill((*gradient)->data(), 0.0f);
}

}  // namespace heed::ops
