#pragma once

// Local means, and helpers of non_local_means.hpp outside its main loop: an image with its border,
// and the weights of one pixel in double.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/elementary.hpp"
#include "kernels/image/table.hpp"

namespace heed::kernels {

/// The mean of the square around each pixel of a row: first sums down the columns, then along the
/// row.
template <class Isa>
void local_mean(const LocalMeanRow& t) noexcept {
  const std::int64_t top = std::max<std::int64_t>(0, t.row - t.radius);
  const std::int64_t bottom = std::min(t.height, t.row + t.radius + 1);
  std::fill_n(t.sums, t.width, 0.0);
  for (std::int64_t y = top; y < bottom; ++y)
    for (std::int64_t x = 0; x < t.width; ++x)
      t.sums[x] += static_cast<double>(t.image[y * t.width + x]);
  for (std::int64_t x = 0; x < t.width; ++x) {
    const std::int64_t left = std::max<std::int64_t>(0, x - t.radius);
    const std::int64_t right = std::min(t.width, x + t.radius + 1);
    double sum = 0.0;
    for (std::int64_t column = left; column < right; ++column) sum += t.sums[column];
    t.mean[t.row * t.width + x] =
        static_cast<float>(sum / static_cast<double>((bottom - top) * (right - left)));
  }
}

/// The index of the pixel at a position along an axis of `size` pixels; -1 for none.
template <class Isa>
std::int64_t pixel_at(std::int64_t position, std::int64_t size, bool is_reflected) noexcept {
  if (position >= 0 && position < size) return position;
  if (!is_reflected) return -1;
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t folded = (position % period + period) % period;
  return std::min(folded, period - folded);
}

/// The value of the pixel at a position that may be outside the image; 0 if the border has none.
template <class Isa>
float pixel(const BorderedImage& image, std::int64_t row, std::int64_t column) noexcept {
  row = pixel_at<Isa>(row, image.height, image.is_reflected);
  column = pixel_at<Isa>(column, image.width, image.is_reflected);
  return row < 0 || column < 0 ? 0.0f : image.pixels[row * image.width + column];
}

template <class Isa>
void pad_image(const BorderedImage& image, std::int64_t radius, float* padded) noexcept {
  const std::int64_t columns = image.width + 2 * radius;
  for (std::int64_t y = 0; y < image.height + 2 * radius; ++y) {
    for (std::int64_t x = 0; x < columns; ++x)
      *padded++ = pixel<Isa>(image, y - radius, x - radius);
    padded = std::fill_n(padded, kNonLocalSlack, 0.0f);
  }
}

template <class Isa>
void non_local_weights(const NonLocalPixel& t) noexcept {
  const BorderedImage& image = t.image;
  std::fill_n(t.weights, image.height * image.width, 0.0f);
  const std::int64_t top = std::max<std::int64_t>(0, t.row - t.search_radius);
  const std::int64_t bottom = std::min(image.height, t.row + t.search_radius + 1);
  const std::int64_t left = std::max<std::int64_t>(0, t.column - t.search_radius);
  const std::int64_t right = std::min(image.width, t.column + t.search_radius + 1);
  double sum = 0.0;
  for (std::int64_t y = top; y < bottom; ++y)
    for (std::int64_t x = left; x < right; ++x) {
      double distance = 0.0;
      for (std::int64_t v = -t.patch_radius; v <= t.patch_radius; ++v)
        for (std::int64_t u = -t.patch_radius; u <= t.patch_radius; ++u) {
          const double d = static_cast<double>(pixel<Isa>(image, t.row + v, t.column + u)) -
                           static_cast<double>(pixel<Isa>(image, y + v, x + u));
          distance += d * d;
        }
      float& weight = t.weights[y * image.width + x];
      weight = static_cast<float>(exponential(-t.rate * std::max(distance - t.noise, 0.0)));
      sum += static_cast<double>(weight);
    }
  for (std::int64_t y = top; y < bottom; ++y)
    for (std::int64_t x = left; x < right; ++x) {
      float& weight = t.weights[y * image.width + x];
      weight = static_cast<float>(static_cast<double>(weight) / sum);
    }
}

}  // namespace heed::kernels
