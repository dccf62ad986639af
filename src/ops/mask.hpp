#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/tensor.hpp"
#include "kernels/table.hpp"

namespace heed::ops {

/// A mask spread over [B, H, L, S] without copying it: repeated axes have stride 0.
class BroadcastMask {
 public:
  /// Hides nothing.
  BroadcastMask() = default;

  /// Throws DTypeError, or ShapeError if the mask does not broadcast to these sizes.
  BroadcastMask(const TensorView& mask, std::int64_t B, std::int64_t H, std::int64_t L,
                std::int64_t S);

  /// The part for one batch and head.
  kernels::MaskSlice slice(std::int64_t b, std::int64_t h) const noexcept;

  /// Keys from here on are hidden: the length of a last axis that is shorter than S.
  std::int64_t reach(std::int64_t S) const noexcept { return reach_ < S ? reach_ : S; }

 private:
  const bool* allowed_ = nullptr;
  const float* bias_ = nullptr;
  std::ptrdiff_t strides_[4] = {0, 0, 0, 0};
  std::int64_t reach_ = INT64_MAX;
};

}  // namespace heed::ops
