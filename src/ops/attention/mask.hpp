#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "heed/tensor.hpp"
#include "kernels/table.hpp"

namespace heed::ops {

/// An array that broadcasts to [B, H, L, S], read in place.
template <class T>
class PairArray {
 public:
  PairArray() = default;
  PairArray(const char* argument, const TensorView& array, const Shape& full);

  bool empty() const noexcept { return data_ == nullptr; }

  /// The part for one batch and head.
  kernels::PairSlice<T> slice(std::int64_t b, std::int64_t h) const noexcept {
    if (empty()) return {};
    return {data_ + static_cast<std::ptrdiff_t>(b) * strides_[0] +
                static_cast<std::ptrdiff_t>(h) * strides_[1],
            strides_[2], strides_[3]};
  }

  /// The size of a last axis that is shorter than S, or else the largest integer.
  std::int64_t reach() const noexcept { return reach_; }

 private:
  const T* data_ = nullptr;
  std::ptrdiff_t strides_[4] = {0, 0, 0, 0};
  std::int64_t reach_ = std::numeric_limits<std::int64_t>::max();
};

/// A mask, boolean or additive, and a bias.
class BroadcastMask {
 public:
  /// Hides nothing.
  BroadcastMask() = default;

  /// Throws DTypeError; ShapeError if one does not broadcast to `full`, which is [B, H, L, S];
  /// OptionError if both are additive.
  BroadcastMask(const std::optional<TensorView>& mask, const std::optional<TensorView>& bias,
                const Shape& full);

  kernels::MaskSlice slice(std::int64_t b, std::int64_t h) const noexcept {
    return {allowed_.slice(b, h), bias_.slice(b, h)};
  }

  /// The number of the S keys that the last axes of both cover.
  std::int64_t reach(std::int64_t S) const noexcept;

 private:
  PairArray<std::uint8_t> allowed_;
  PairArray<float> bias_;
};

}  // namespace heed::ops
