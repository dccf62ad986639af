#pragma once

// Means over the neighbourhood of a pixel, cut at the image's edge.
//   local_mean: all pixels with the same weight.
//   non_local_means: sum_j w_ij x_j / sum_j w_ij, w_ij = exp(-max(d_ij - 2 sigma^2, 0) / h^2).
// Here d_ij is the mean squared difference of the patches around i and j, which may reach outside.
// Buades et al., "A Non-Local Algorithm for Image Denoising", section 2, 2005. The noise is
// subtracted in "Non-Local Means Denoising", 2011.
//
//   image [H, W] -> output, weight_sum [H, W]

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "heed/attention_pooling.hpp"
#include "reference/array.hpp"

namespace heed::reference {

inline Array local_mean(const Array& image, std::int64_t radius) {
  const std::int64_t H = image.shape[0], W = image.shape[1];
  Array mean(image.shape);
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = 0; x < W; ++x) {
      double count = 0.0;
      for (std::int64_t v = 0; v < H; ++v)
        for (std::int64_t u = 0; u < W; ++u) {
          if (std::abs(v - y) > radius || std::abs(u - x) > radius) continue;
          mean[y * W + x] += image[v * W + u];
          count += 1.0;
        }
      mean[y * W + x] /= count;
    }
  return mean;
}

/// A pixel of the image. A position outside it gets the border's pixel: reflected at both edges,
/// repeatedly if necessary.
inline double pixel(const Array& image, std::int64_t y, std::int64_t x, Border border) {
  const auto mirrored = [](std::int64_t place, std::int64_t size) {
    while (size > 1 && (place < 0 || place >= size))
      place = place < 0 ? -place : 2 * (size - 1) - place;
    return size > 1 ? place : 0;
  };
  const std::int64_t H = image.shape[0], W = image.shape[1];
  if (border == Border::kReflect) return image[mirrored(y, H) * W + mirrored(x, W)];
  return y < 0 || y >= H || x < 0 || x >= W ? 0.0 : image[y * W + x];
}

/// w_ij of pixel (y, x) for all pixels j, zero outside the search window.
inline Array non_local_weights(const Array& image, std::int64_t y, std::int64_t x,
                               const NonLocalMeansOptions& options) {
  const std::int64_t H = image.shape[0], W = image.shape[1];
  const std::int64_t r = options.patch_radius;
  Array weights(image.shape);
  for (std::int64_t v = 0; v < H; ++v)
    for (std::int64_t u = 0; u < W; ++u) {
      if (std::abs(v - y) > options.search_radius || std::abs(u - x) > options.search_radius)
        continue;
      double distance = 0.0;
      for (std::int64_t dy = -r; dy <= r; ++dy)
        for (std::int64_t dx = -r; dx <= r; ++dx) {
          const double d = pixel(image, y + dy, x + dx, options.border) -
                           pixel(image, v + dy, u + dx, options.border);
          distance += d * d / static_cast<double>((2 * r + 1) * (2 * r + 1));
        }
      const double sigma = options.sigma, h = options.h;
      weights[v * W + u] = std::exp(-std::max(distance - 2.0 * sigma * sigma, 0.0) / (h * h));
    }
  return weights;
}

struct NonLocalMeansResult {
  Array output;
  Array weight_sum;
};

inline NonLocalMeansResult non_local_means(const Array& image,
                                           const NonLocalMeansOptions& options) {
  const std::int64_t H = image.shape[0], W = image.shape[1];
  NonLocalMeansResult result{Array(image.shape), Array(image.shape)};
  for (std::int64_t i = 0; i < H * W; ++i) {
    const Array weights = non_local_weights(image, i / W, i % W, options);
    for (std::int64_t j = 0; j < H * W; ++j) {
      result.weight_sum[i] += weights[j];
      result.output[i] += weights[j] * image[j];
    }
    result.output[i] /= result.weight_sum[i];
  }
  return result;
}

}  // namespace heed::reference
