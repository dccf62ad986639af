#pragma once

// What the image kernels take, and the list of them.

#include <cstdint>

namespace heed::kernels {

inline constexpr std::int64_t kNonLocalSlack = 16;

/// Some rows of non-local means. The image stands in a larger one, patch_radius pixels of the
/// border on each side; rows are `stride` apart and have kNonLocalSlack more numbers at their end.
struct NonLocalBand {
  const float* padded;
  std::int64_t stride;
  std::int64_t height;
  std::int64_t width;
  std::int64_t first;  // of the band's rows
  std::int64_t rows;
  std::int64_t patch_radius;
  std::int64_t search_radius;
  // A weight is 2^(fall * max(sum over the patch - noise, 0)).
  float noise;
  float fall;
  float* output;      // [height, width]
  float* weight_sum;  // [height, width]
  float* scratch;     // non_local_scratch(band)
};

/// The image kernels of one instruction set.
struct ImageKernels {
  std::int64_t (*non_local_scratch)(const NonLocalBand& band) noexcept;
  void (*non_local_means)(const NonLocalBand& band) noexcept;
};

}  // namespace heed::kernels
