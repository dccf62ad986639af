// The kernels of one instruction set. Compiled once for each, with that set's flags: everything
// here is a template over it, so that no function with its instructions is shared with other files
// (tests/js/house.test.ts looks at the objects' symbols).

#include "kernels/table.hpp"

#include "kernels/additive_attention.hpp"
#include "kernels/byte_linear.hpp"
#include "kernels/decode.hpp"
#include "kernels/dropout.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/flash_attention.hpp"
#include "kernels/flash_attention_backward.hpp"
#include "kernels/gru.hpp"
#include "kernels/linear.hpp"
#include "kernels/linear_attention.hpp"
#include "kernels/non_local_means.hpp"
#include "kernels/norm.hpp"
#include "kernels/optim.hpp"
#include "kernels/pack.hpp"
#include "kernels/softmax.hpp"

namespace heed::kernels {

template <class Isa>
const KernelTable& kernel_table() noexcept {
  static constexpr KernelTable kTable = {
      .isa = simd::Traits<Isa>::kName,
      .panel = kPanel<Isa>,
      .rows = simd::Traits<Isa>::kRows,
      .pack_rows = pack_rows<Isa>,
      .pack_columns = pack_columns<Isa>,
      .all_finite = all_finite<Isa>,
      .pack_left = pack_blocks<Isa, simd::Traits<Isa>::kRows>,
      .pack_right_columns = pack_block_columns<Isa, kPanel<Isa>>,
      .pack_left_columns = pack_block_columns<Isa, simd::Traits<Isa>::kRows>,
      .attention_scratch = FlashAttention<Isa>::scratch,
      .attention = FlashAttention<Isa>::run,
      .attention_backward_scratch = FlashAttentionBackward<Isa>::scratch,
      .pack_backward = FlashAttentionBackward<Isa>::pack,
      .attention_backward = FlashAttentionBackward<Isa>::run,
      .store_gradient = FlashAttentionBackward<Isa>::store,
      .decode_scratch = Decode<Isa>::scratch,
      .decode = Decode<Isa>::run,
      .merge = merge_states<Isa>,
      .linear = linear<Isa>,
      .linear_in_place = linear_in_place<Isa>,
      .byte_linear = byte_linear<Isa>,
      .quantise_left = quantise_left<Isa>,
      .quantise_weight = quantise_weight<Isa>,
      .quantise_keys = quantise_keys<Isa>,
      .linear_attention = linear_attention<Isa>,
      .softmax = softmax<Isa>,
      .additive_attention = additive_attention<Isa>,
      .additive_attention_backward = additive_attention_backward<Isa>,
      .gru_step = gru_step<Isa>,
      .gru_step_backward = gru_step_backward<Isa>,
      .non_local_scratch = NonLocalMeans<Isa>::scratch,
      .non_local_means = NonLocalMeans<Isa>::run,
      .sgd_step = sgd_step<Isa>,
      .adam_step = adam_step<Isa>,
      .sum_of_squares = sum_of_squares<Isa>,
      .softmax_sums = softmax_sums<Isa>,
      .softmax_backward = softmax_backward<Isa>,
      .norm = norm<Isa>,
      .norm_backward = norm_backward<Isa>,
      .activate = activate_numbers<Isa>,
      .activate_backward = activate_backward<Isa>,
      .swiglu = swiglu<Isa>,
      .swiglu_backward = swiglu_backward<Isa>,
      .drop = drop<Isa>,
  };
  return kTable;
}

template const KernelTable& kernel_table<simd::Isa>() noexcept;

}  // namespace heed::kernels
