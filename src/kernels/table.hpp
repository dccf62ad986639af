#pragma once

// The kernels of one instruction set, as the operations see them: plain functions on raw pointers.
// They allocate nothing and throw nothing.

#include <string_view>

#include "kernels/arrays/table.hpp"
#include "kernels/attention/table.hpp"
#include "kernels/image/table.hpp"
#include "kernels/layers/table.hpp"
#include "kernels/product/table.hpp"
#include "kernels/training/table.hpp"

namespace heed::kernels {

struct KernelTable {
  std::string_view isa;
  /// Columns of a panel, and rows of a register block.
  int panel;
  int rows;
  ArrayKernels arrays;
  AttentionKernels attention;
  ImageKernels image;
  LayerKernels layers;
  ProductKernels product;
  TrainingKernels training;
};

/// Defined once for each instruction set, in kernels/table.cpp or kernels/byte_table.cpp.
template <class Isa>
const KernelTable& kernel_table() noexcept;

}  // namespace heed::kernels
