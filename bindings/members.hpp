#pragma once

// The members of the structs that cross the border, in the order in which they are written and read
// as numbers. describe.cpp prints them for TypeScript.

#include <cstddef>
#include <string_view>
#include <tuple>

#include "heed/heed.hpp"

namespace heed::border {

/// The name of an enumerator in TypeScript. If it is empty, the name is the C++ name without the k
/// and with lower case at its start.
template <auto Enumerator>
inline constexpr std::string_view kNameInTypeScript = {};

template <>
inline constexpr std::string_view kNameInTypeScript<Precision::kInt8Scores> = "int8-scores";

template <class T>
inline constexpr std::nullptr_t kMembers = nullptr;

template <>
inline constexpr auto kMembers<AttentionOptions> = std::tuple(
    &AttentionOptions::heads, &AttentionOptions::kv_heads, &AttentionOptions::scale,
    &AttentionOptions::is_causal, &AttentionOptions::causal_alignment,
    &AttentionOptions::causal_offset, &AttentionOptions::window_left,
    &AttentionOptions::window_right, &AttentionOptions::mask, &AttentionOptions::kv_lengths,
    &AttentionOptions::block_mask, &AttentionOptions::precision, &AttentionOptions::softcap,
    &AttentionOptions::bias, &AttentionOptions::alibi_slopes, &AttentionOptions::sinks,
    &AttentionOptions::dropout, &AttentionOptions::dropout_seed, &AttentionOptions::past_key,
    &AttentionOptions::past_value, &AttentionOptions::cache, &AttentionOptions::cu_seqlens_q,
    &AttentionOptions::cu_seqlens_k, &AttentionOptions::need_weights, &AttentionOptions::need_lse,
    &AttentionOptions::need_statistics, &AttentionOptions::capture_scores,
    &AttentionOptions::capture_capped, &AttentionOptions::capture_masked,
    &AttentionOptions::capture_entropy);

template <>
inline constexpr auto kMembers<AttentionResult> =
    std::tuple(&AttentionResult::output, &AttentionResult::weights, &AttentionResult::lse,
               &AttentionResult::statistics, &AttentionResult::scores, &AttentionResult::capped,
               &AttentionResult::masked, &AttentionResult::entropy, &AttentionResult::present_key,
               &AttentionResult::present_value);

template <>
inline constexpr auto kMembers<PartialAttention> =
    std::tuple(&PartialAttention::output, &PartialAttention::lse);

template <>
inline constexpr auto kMembers<KvCache::Options> =
    std::tuple(&KvCache::Options::batch, &KvCache::Options::heads, &KvCache::Options::head_size,
               &KvCache::Options::value_size, &KvCache::Options::capacity,
               &KvCache::Options::format, &KvCache::Options::is_rolling);

template <>
inline constexpr auto kMembers<LinearAttentionOptions> =
    std::tuple(&LinearAttentionOptions::rule, &LinearAttentionOptions::heads,
               &LinearAttentionOptions::kv_heads, &LinearAttentionOptions::scale,
               &LinearAttentionOptions::decay, &LinearAttentionOptions::beta,
               &LinearAttentionOptions::past_state);

template <>
inline constexpr auto kMembers<LinearAttentionResult> =
    std::tuple(&LinearAttentionResult::output, &LinearAttentionResult::present_state);

template <>
inline constexpr auto kMembers<MultiHeadAttentionParameters> = std::tuple(
    &MultiHeadAttentionParameters::in_proj_weight, &MultiHeadAttentionParameters::q_proj_weight,
    &MultiHeadAttentionParameters::k_proj_weight, &MultiHeadAttentionParameters::v_proj_weight,
    &MultiHeadAttentionParameters::in_proj_bias, &MultiHeadAttentionParameters::out_proj_weight,
    &MultiHeadAttentionParameters::out_proj_bias);

template <>
inline constexpr auto kMembers<MultiHeadAttentionOptions> = std::tuple(
    &MultiHeadAttentionOptions::heads, &MultiHeadAttentionOptions::is_causal,
    &MultiHeadAttentionOptions::mask, &MultiHeadAttentionOptions::key_mask,
    &MultiHeadAttentionOptions::need_weights, &MultiHeadAttentionOptions::average_weights);

template <>
inline constexpr auto kMembers<MultiHeadAttentionResult> =
    std::tuple(&MultiHeadAttentionResult::output, &MultiHeadAttentionResult::weights);

template <>
inline constexpr auto kMembers<AverageOptions> =
    std::tuple(&AverageOptions::is_causal, &AverageOptions::key_mask);

template <>
inline constexpr auto kMembers<SelfSimilarityResult> =
    std::tuple(&SelfSimilarityResult::output, &SelfSimilarityResult::weights);

template <>
inline constexpr auto kMembers<SinusoidalOptions> =
    std::tuple(&SinusoidalOptions::base, &SinusoidalOptions::offset);

template <>
inline constexpr auto kMembers<RopeOptions> = std::tuple(
    &RopeOptions::style, &RopeOptions::heads, &RopeOptions::rotary_size, &RopeOptions::base,
    &RopeOptions::offset, &RopeOptions::position_ids, &RopeOptions::cos, &RopeOptions::sin);

template <>
inline constexpr auto kMembers<AttentionGradientOptions> =
    std::tuple(&AttentionGradientOptions::need_mask, &AttentionGradientOptions::need_bias,
               &AttentionGradientOptions::need_alibi_slopes, &AttentionGradientOptions::need_sinks,
               &AttentionGradientOptions::d_lse);

template <>
inline constexpr auto kMembers<AttentionGradients> = std::tuple(
    &AttentionGradients::q, &AttentionGradients::k, &AttentionGradients::v,
    &AttentionGradients::mask, &AttentionGradients::bias, &AttentionGradients::alibi_slopes,
    &AttentionGradients::sinks, &AttentionGradients::past_key, &AttentionGradients::past_value);

template <>
inline constexpr auto kMembers<LinearGradientOptions> =
    std::tuple(&LinearGradientOptions::need_x, &LinearGradientOptions::need_weight,
               &LinearGradientOptions::need_bias);

template <>
inline constexpr auto kMembers<LinearGradients> =
    std::tuple(&LinearGradients::x, &LinearGradients::weight, &LinearGradients::bias);

template <>
inline constexpr auto kMembers<SwigluGradients> =
    std::tuple(&SwigluGradients::gate, &SwigluGradients::up);

template <>
inline constexpr auto kMembers<LayerNormOptions> =
    std::tuple(&LayerNormOptions::axes, &LayerNormOptions::weight, &LayerNormOptions::bias,
               &LayerNormOptions::eps);

template <>
inline constexpr auto kMembers<RmsNormOptions> =
    std::tuple(&RmsNormOptions::axes, &RmsNormOptions::weight, &RmsNormOptions::eps);

template <>
inline constexpr auto kMembers<NormGradients> =
    std::tuple(&NormGradients::x, &NormGradients::weight, &NormGradients::bias);

template <>
inline constexpr auto kMembers<CrossEntropyOptions> =
    std::tuple(&CrossEntropyOptions::ignore_index, &CrossEntropyOptions::label_smoothing,
               &CrossEntropyOptions::reduction);

template <>
inline constexpr auto kMembers<GruParameters> =
    std::tuple(&GruParameters::weight_ih, &GruParameters::weight_hh, &GruParameters::bias_ih,
               &GruParameters::bias_hh);

template <>
inline constexpr auto kMembers<GruOptions> =
    std::tuple(&GruOptions::state, &GruOptions::lengths, &GruOptions::need_gates);

template <>
inline constexpr auto kMembers<GruResult> =
    std::tuple(&GruResult::output, &GruResult::state, &GruResult::gates);

template <>
inline constexpr auto kMembers<GruGradients> =
    std::tuple(&GruGradients::x, &GruGradients::state, &GruGradients::weight_ih,
               &GruGradients::weight_hh, &GruGradients::bias_ih, &GruGradients::bias_hh);

template <>
inline constexpr auto kMembers<MatmulOptions> =
    std::tuple(&MatmulOptions::transpose_a, &MatmulOptions::transpose_b);

template <>
inline constexpr auto kMembers<AdditiveAttentionResult> =
    std::tuple(&AdditiveAttentionResult::output, &AdditiveAttentionResult::weights);

template <>
inline constexpr auto kMembers<AdditiveAttentionGradients> =
    std::tuple(&AdditiveAttentionGradients::q, &AdditiveAttentionGradients::k,
               &AdditiveAttentionGradients::v, &AdditiveAttentionGradients::weight);

template <>
inline constexpr auto kMembers<KernelRegressionResult> =
    std::tuple(&KernelRegressionResult::output, &KernelRegressionResult::weights);

template <>
inline constexpr auto kMembers<KernelRegressionGradients> =
    std::tuple(&KernelRegressionGradients::x_query, &KernelRegressionGradients::x_train,
               &KernelRegressionGradients::y_train, &KernelRegressionGradients::bandwidth);

template <>
inline constexpr auto kMembers<NonLocalMeansOptions> = std::tuple(
    &NonLocalMeansOptions::patch_radius, &NonLocalMeansOptions::search_radius,
    &NonLocalMeansOptions::h, &NonLocalMeansOptions::sigma, &NonLocalMeansOptions::border);

template <>
inline constexpr auto kMembers<NonLocalMeansResult> =
    std::tuple(&NonLocalMeansResult::output, &NonLocalMeansResult::weight_sum);

template <>
inline constexpr auto kMembers<SgdOptions> =
    std::tuple(&SgdOptions::learning_rate, &SgdOptions::momentum, &SgdOptions::dampening,
               &SgdOptions::nesterov, &SgdOptions::weight_decay);

template <>
inline constexpr auto kMembers<AdamOptions> =
    std::tuple(&AdamOptions::learning_rate, &AdamOptions::beta1, &AdamOptions::beta2,
               &AdamOptions::eps, &AdamOptions::weight_decay, &AdamOptions::is_decoupled);

template <>
inline constexpr auto kMembers<TopKResult> = std::tuple(&TopKResult::values, &TopKResult::indices);

template <>
inline constexpr auto kMembers<SampleOptions> =
    std::tuple(&SampleOptions::temperature, &SampleOptions::top_k, &SampleOptions::top_p,
               &SampleOptions::seed);

}  // namespace heed::border
