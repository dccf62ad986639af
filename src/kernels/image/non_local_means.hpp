#pragma once

// Non-local means for a band of rows (Buades et al., 2005, section 5):
//   out_i = sum_j w_ij x_j / sum_j w_ij,   w_ij = 2^(rate max(d_ij - noise, 0)).
// Here d_ij is the sum of squared differences of the patches around i and j. The pixel j is in the
// square of search_radius around i, cut at the image's edge.
//
// The outermost loop is over offsets j - i. For one offset, all d_ij are box sums of one image of
// squared differences, first down the columns, then along the rows. Darbon et al. ("Fast nonlocal
// filtering applied to electron cryomicroscopy", 2008) use integral images. Here box sums are
// computed from their terms, because in float integral images or running sums would lose small
// distances next to large ones. Using w_ij = w_ji would save half of the work, but threads would
// wait for each other.
//
// Offsets are summed by rows of the window first, which limits the accumulation of rounding errors.

#include <algorithm>
#include <cstdint>

#include "kernels/image/table.hpp"
#include "simd/vector.hpp"

namespace heed::kernels {

template <class Isa>
class NonLocalMeans {
 public:
  static std::int64_t scratch(const NonLocalBand& band) noexcept {
    return (band.rows + 2 * band.patch_radius + 1) * band.stride +
           4 * band.rows * (band.width + kNonLocalSlack);
  }

  static void run(const NonLocalBand& band) noexcept {
    NonLocalMeans self(band);
    const std::int64_t R = band.search_radius;
    std::fill_n(self.sums_, 2 * self.sums_size_, 0.0f);
    for (std::int64_t dy = -R; dy <= R; ++dy) {
      std::fill_n(self.parts_, 2 * self.sums_size_, 0.0f);
      for (std::int64_t dx = -R; dx <= R; ++dx) self.add_offset(dy, dx);
      for (std::int64_t i = 0; i < 2 * self.sums_size_; ++i) self.sums_[i] += self.parts_[i];
    }
    self.finish();
  }

 private:
  using V = simd::Vector<Isa>;
  static constexpr std::int64_t kLanes = V::size;
  static_assert(kLanes <= kNonLocalSlack);

  explicit NonLocalMeans(const NonLocalBand& band) noexcept
      : b_(band),
        sums_stride_(band.width + kNonLocalSlack),
        sums_size_(band.rows * sums_stride_),
        differences_(band.scratch),
        columns_(differences_ + (band.rows + 2 * band.patch_radius) * band.stride),
        sums_(columns_ + band.stride),
        parts_(sums_ + 2 * sums_size_) {}

  void add_offset(std::int64_t dy, std::int64_t dx) noexcept {
    const std::int64_t top = std::max(b_.first, -dy);
    const std::int64_t bottom = std::min(b_.first + b_.rows, b_.height - dy);
    const std::int64_t left = std::max<std::int64_t>(0, -dx);
    const std::int64_t right = std::min(b_.width, b_.width - dx);
    if (top >= bottom || left >= right) return;
    const std::int64_t patch = 2 * b_.patch_radius;
    for (std::int64_t row = 0; row < bottom - top + patch; ++row) {
      const float* const at = b_.padded + (top + row) * b_.stride + left;
      square_differences(at, at + dy * b_.stride + dx, right - left + patch,
                         differences_ + row * b_.stride);
    }
    for (std::int64_t y = top; y < bottom; ++y) {
      const std::int64_t sums = (y - b_.first) * sums_stride_ + left;
      add_row(differences_ + (y - top) * b_.stride,
              b_.padded + (y + dy + b_.patch_radius) * b_.stride + left + dx + b_.patch_radius,
              right - left, parts_ + sums, parts_ + sums_size_ + sums);
    }
  }

  static void square_differences(const float* a, const float* b, std::int64_t count,
                                 float* out) noexcept {
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const V d = V::load_unaligned(a + i) - V::load_unaligned(b + i);
      (d * d).store_unaligned(out + i);
    }
  }

  /// Adds the weights of `count` neighbours, and the weights times the pixels.
  [[gnu::noinline]] void add_row(const float* differences, const float* pixels, std::int64_t count,
                                 float* weights, float* output) const noexcept {
    const std::int64_t patch = 2 * b_.patch_radius;
    float* const columns = columns_;
    const std::int64_t stride = b_.stride;
    for (std::int64_t i = 0; i < count + patch; i += kLanes) {
      V sum = V::load_unaligned(differences + i);
      for (std::int64_t v = 1; v <= patch; ++v)
        sum += V::load_unaligned(differences + v * stride + i);
      sum.store_unaligned(columns + i);
    }
    const simd::Exp2<Isa> exp2;
    const V noise(b_.noise), rate(b_.rate), zero(0.0f);
    std::int64_t i = 0;
    const auto weight = [&] {
      V sum = V::load_unaligned(columns + i);
      for (std::int64_t u = 1; u <= patch; ++u) sum += V::load_unaligned(columns + i + u);
      return exp2(simd::at_least<Isa>(sum - noise, zero) * rate);
    };
    const auto add = [&](V w, V pixel) {
      (V::load_unaligned(weights + i) + w).store_unaligned(weights + i);
      simd::madd<Isa>(w, pixel, V::load_unaligned(output + i)).store_unaligned(output + i);
    };
    for (; i + kLanes <= count; i += kLanes) add(weight(), V::load_unaligned(pixels + i));
    if (i == count) return;
    const auto inside = V::load_unaligned(kLaneIndices) < V(static_cast<float>(count - i));
    add(simd::select(inside, weight(), zero),
        simd::select(inside, V::load_unaligned(pixels + i), zero));
  }

  void finish() const noexcept {
    for (std::int64_t y = 0; y < b_.rows; ++y) {
      const float* const weights = sums_ + y * sums_stride_;
      const float* const output = weights + sums_size_;
      const std::int64_t to = (b_.first + y) * b_.width;
      for (std::int64_t x = 0; x < b_.width; ++x) {
        b_.weight_sum[to + x] = weights[x];
        b_.output[to + x] = output[x] / weights[x];
      }
    }
  }

  static constexpr float kLaneIndices[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

  const NonLocalBand& b_;
  std::int64_t sums_stride_;
  std::int64_t sums_size_;
  float* differences_;  // [rows + 2 patch_radius, stride]
  float* columns_;      // [stride] their sums over the height of a patch
  float* sums_;         // [2, rows, sums_stride] of weights, and of weights times pixels
  float* parts_;        // the same for a row of the window
};

}  // namespace heed::kernels
