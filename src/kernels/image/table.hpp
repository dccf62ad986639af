#pragma once

// The arguments of the image kernels, and the list of these kernels.

#include <cstdint>

namespace heed::kernels {

/// Numbers after each row of a NonLocalBand, which vectors may read.
inline constexpr std::int64_t kNonLocalSlack = 16;

/// A band of rows of non-local means. The image is padded with patch_radius pixels of the border on
/// each side, and each row with kNonLocalSlack numbers; rows are `stride` apart.
struct NonLocalBand {
  const float* padded;
  std::int64_t stride;
  std::int64_t height;
  std::int64_t width;
  std::int64_t first;  // row of the band
  std::int64_t rows;
  std::int64_t patch_radius;
  std::int64_t search_radius;
  // A weight is 2^(rate * max(sum over the patch - noise, 0)).
  float noise;
  float rate;
  float* output;      // [height, width]
  float* weight_sum;  // [height, width]
  float* scratch;     // non_local_scratch(band) floats
};

/// One row of local means.
struct LocalMeanRow {
  const float* image;  // [height, width]
  std::int64_t height;
  std::int64_t width;
  std::int64_t row;
  std::int64_t radius;
  double* sums;  // [width] scratch
  float* mean;   // [height, width]
};

/// An image, and its continuation beyond the edge: reflected, or zeros.
struct BorderedImage {
  const float* pixels;  // [height, width]
  std::int64_t height;
  std::int64_t width;
  bool is_reflected;
};

/// The weights of non-local means for one pixel.
struct NonLocalPixel {
  BorderedImage image;
  std::int64_t row;
  std::int64_t column;
  std::int64_t patch_radius;
  std::int64_t search_radius;
  // A weight is exp(-rate * max(sum over the patch - noise, 0)).
  double noise;
  double rate;
  float* weights;  // [height, width]
};

/// One row of max pooling: the largest number of each of `columns` cells, which may overlap.
struct MaxPoolRow {
  const float* x;  // [height, width] the rows of the cells
  std::int64_t height;
  std::int64_t width;
  std::int64_t columns;
  float* y;  // [columns]
};

/// The image kernels of one instruction set.
struct ImageKernels {
  void (*max_pool)(const MaxPoolRow& row) noexcept;
  void (*local_mean)(const LocalMeanRow& row) noexcept;
  /// The padded image of a NonLocalBand.
  void (*pad_image)(const BorderedImage& image, std::int64_t radius, float* padded) noexcept;
  void (*non_local_weights)(const NonLocalPixel& pixel) noexcept;
  std::int64_t (*non_local_scratch)(const NonLocalBand& band) noexcept;
  void (*non_local_means)(const NonLocalBand& band) noexcept;
};

}  // namespace heed::kernels
