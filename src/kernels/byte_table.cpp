// The kernels of an instruction set that adds dot products of bytes to another set. Only the
// kernels that multiply bytes are compiled for it; the others come from the table of the other set.
// As in table.cpp, all functions are templates over the set.

#include "kernels/attention/flash_attention.hpp"
#include "kernels/product/byte_linear.hpp"
#include "kernels/product/nibble_linear.hpp"
#include "kernels/table.hpp"

namespace heed::kernels {

template <>
const KernelTable& kernel_table<simd::Isa>() noexcept {
  static const KernelTable kTable = [] {
    KernelTable table = kernel_table<simd::Traits<simd::Isa>::Base>();
    table.isa = simd::Traits<simd::Isa>::kName;
    // In WebAssembly, attention with bytes would add 1.6 KB to each download.
    if constexpr (!simd::kIsWasm) table.attention.forward = FlashAttention<simd::Isa>::run;
    table.product.byte_linear = byte_linear<simd::Isa>;
    table.product.nibble_linear = nibble_linear<simd::Isa>;
    return table;
  }();
  return kTable;
}

}  // namespace heed::kernels
