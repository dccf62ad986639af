// The kernels of one instruction set. This file is compiled once for each, with that set's flags.
// All its functions are templates over the set, so that no function with its instructions is shared
// with other files (tests/js/house/house.test.ts checks the objects' symbols).

#include "kernels/table.hpp"

#include "kernels/arrays/arithmetic.hpp"
#include "kernels/arrays/cast.hpp"
#include "kernels/arrays/rearrange.hpp"
#include "kernels/arrays/sampling.hpp"
#include "kernels/arrays/sums.hpp"
#include "kernels/arrays/widen.hpp"
#include "kernels/attention/additive_attention.hpp"
#include "kernels/attention/average.hpp"
#include "kernels/attention/cache_rows.hpp"
#include "kernels/attention/decode.hpp"
#include "kernels/attention/flash_attention.hpp"
#include "kernels/attention/flash_attention_backward.hpp"
#include "kernels/attention/kernel_regression.hpp"
#include "kernels/attention/linear_attention.hpp"
#include "kernels/attention/merge.hpp"
#include "kernels/image/local_means.hpp"
#include "kernels/image/max_pool.hpp"
#include "kernels/image/non_local_means.hpp"
#include "kernels/layers/dropout.hpp"
#include "kernels/layers/elementwise.hpp"
#include "kernels/layers/gru.hpp"
#include "kernels/layers/norm.hpp"
#include "kernels/layers/rope.hpp"
#include "kernels/layers/softmax.hpp"
#include "kernels/product/byte_linear.hpp"
#include "kernels/product/linear.hpp"
#include "kernels/product/nibble_linear.hpp"
#include "kernels/product/pack.hpp"
#include "kernels/training/cross_entropy.hpp"
#include "kernels/training/optim.hpp"

namespace heed::kernels {

template <class Isa>
const KernelTable& kernel_table() noexcept {
  static constexpr KernelTable kTable = {
      .isa = simd::Traits<Isa>::kName,
      .panel = kPanel<Isa>,
      .rows = simd::Traits<Isa>::kRows,
      .arrays{
          .combine = combine<Isa>,
          .cast = cast<Isa>,
          .widen = widen<Isa>,
          .copy_runs = copy_runs<Isa>,
          .transpose = transpose<Isa>,
          .sum_block = sum_block<Isa>,
          .sum_parts = sum_parts<Isa>,
          .running_sums = running_sums<Isa>,
          .add_block = add_block<Isa>,
          .top_k = top_k<Isa>,
          .check_logits = check_logits<Isa>,
          .sample = sample<Isa>,
      },
      .attention{
          .forward_scratch = FlashAttention<Isa>::scratch,
          .forward = FlashAttention<Isa>::run,
          .backward_scratch = FlashAttentionBackward<Isa>::scratch,
          .pack_backward = FlashAttentionBackward<Isa>::pack,
          .backward = FlashAttentionBackward<Isa>::run,
          .store_gradient = FlashAttentionBackward<Isa>::store,
          .store_cache_row = store_cache_row<Isa>,
          .widen_cache_panels = widen_cache_panels<Isa>,
          .decode_scratch = Decode<Isa>::scratch,
          .decode = Decode<Isa>::run,
          .merge_states = merge_states<Isa>,
          .merge_outputs = merge_outputs<Isa>,
          .average = average<Isa>,
          .average_backward = average_backward<Isa>,
          .kernel_regression = kernel_regression<Isa>,
          .kernel_regression_backward = kernel_regression_backward<Isa>,
          .linear_attention = linear_attention<Isa>,
          .additive_attention = additive_attention<Isa>,
          .additive_attention_backward = additive_attention_backward<Isa>,
      },
      .image{
          .max_pool = max_pool<Isa>,
          .local_mean = local_mean<Isa>,
          .pad_image = pad_image<Isa>,
          .non_local_weights = non_local_weights<Isa>,
          .non_local_scratch = NonLocalMeans<Isa>::scratch,
          .non_local_means = NonLocalMeans<Isa>::run,
      },
      .layers{
          .softmax = softmax<Isa>,
          .softmax_sums = softmax_sums<Isa>,
          .softmax_backward = softmax_backward<Isa>,
          .norm = norm<Isa>,
          .norm_backward = norm_backward<Isa>,
          .rope_angles = rope_angles<Isa>,
          .rope = rope<Isa>,
          .gru_step = gru_step<Isa>,
          .gru_step_backward = gru_step_backward<Isa>,
          .activate = activate_numbers<Isa>,
          .activate_backward = activate_backward<Isa>,
          .swiglu = swiglu<Isa>,
          .swiglu_backward = swiglu_backward<Isa>,
          .drop = drop<Isa>,
      },
      .product{
          .pack_rows = pack_rows<Isa>,
          .pack_half_rows = pack_half_rows<Isa>,
          .pack_columns = pack_columns<Isa>,
          .all_finite = all_finite<Isa>,
          .pack_left = pack_blocks<Isa, simd::Traits<Isa>::kRows>,
          .pack_right_columns = pack_block_columns<Isa, kPanel<Isa>>,
          .pack_left_columns = pack_block_columns<Isa, simd::Traits<Isa>::kRows>,
          .linear = linear<Isa>,
          .linear_in_place = linear_in_place<Isa>,
          .scale_for_halves = kWidensAll<Isa> ? nullptr : scale_for_halves<Isa>,
          .byte_linear = byte_linear<Isa>,
          .quantise_left = quantise_left<Isa>,
          .quantise_weight = quantise_weight<Isa>,
          .quantise_keys = quantise_keys<Isa>,
          .nibble_linear = nibble_linear<Isa>,
          .nibble_left = kNibbleLeft,
          .quantise_nibble_left = quantise_nibble_left<Isa>,
          .quantise_nibble_weight = quantise_nibble_weight<Isa>,
      },
      .training{
          .cross_entropy = cross_entropy<Isa>,
          .cross_entropy_backward = cross_entropy_backward<Isa>,
          .sgd_step = sgd_step<Isa>,
          .adam_step = adam_step<Isa>,
          .sum_of_squares = sum_of_squares<Isa>,
      },
  };
  return kTable;
}

template const KernelTable& kernel_table<simd::Isa>() noexcept;

}  // namespace heed::kernels
