#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "heed/origins.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using kernels::NonLocalBand;

/// The pixel that a place along an axis of `size` pixels shows, itself outside perhaps; -1 for
/// none.
std::int64_t pixel_at(std::int64_t place, std::int64_t size, Border border) {
  if (place >= 0 && place < size) return place;
  if (border == Border::kZero) return -1;
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t folded = (place % period + period) % period;
  return std::min(folded, period - folded);
}

void require_count(const char* argument, std::int64_t count, std::int64_t most) {
  if (count < 0 || count > most)
    throw OptionError(argument, "a number from 0 to " + std::to_string(most),
                      std::to_string(count));
}

/// What the kernel needs of an image and the options, checked.
struct Problem {
  Problem(const TensorView& image, const NonLocalMeansOptions& options)
      : height(0), width(0), radius(options.patch_radius), border(options.border) {
    ops::require_floats("image", image, 2);
    height = image.shape()[0];
    width = image.shape()[1];
    pixels = image.data<float>().data();
    constexpr std::int64_t kMostRadius = 1 << 20;
    require_count("patch_radius", radius, kMostRadius);
    require_count("search_radius", options.search_radius, std::numeric_limits<std::int64_t>::max());
    if (!(options.h > 0.0f) || !std::isfinite(options.h))
      throw OptionError("h", "a positive number", std::to_string(options.h));
    if (!(options.sigma >= 0.0f) || !std::isfinite(options.sigma))
      throw OptionError("sigma", "a finite number from 0 on", std::to_string(options.sigma));
    search = std::min(options.search_radius, std::max(height, width));
    const double patch = static_cast<double>(2 * radius + 1) * static_cast<double>(2 * radius + 1);
    noise = 2.0 * static_cast<double>(options.sigma) * static_cast<double>(options.sigma) * patch;
    fall = 1.0 / (static_cast<double>(options.h) * static_cast<double>(options.h) * patch);
  }

  /// With the border; 0 outside.
  float pixel(std::int64_t row, std::int64_t column) const {
    row = pixel_at(row, height, border);
    column = pixel_at(column, width, border);
    return row < 0 || column < 0 ? 0.0f : pixels[row * width + column];
  }

  std::int64_t height, width;
  std::int64_t radius, search;
  Border border;
  const float* pixels;
  /// A weight is exp(-fall * max(sum over the patch - noise, 0)).
  double noise, fall;
};

}  // namespace

Tensor local_mean(Context& context, const TensorView& image, std::int64_t radius) {
  ops::require_floats("image", image, 2);
  require_count("radius", radius, std::numeric_limits<std::int64_t>::max());
  const std::int64_t H = image.shape()[0], W = image.shape()[1];
  radius = std::min(radius, std::max(H, W));
  Tensor mean(image.shape());
  if (image.shape().elements() == 0) return mean;
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  double* const sums = scratch.take<double>(W * runtime.pool().threads());
  const float* const from = image.data<float>().data();
  float* const to = mean.data().data();
  const bool alone =
      4.0 * static_cast<double>(H * W) * static_cast<double>(radius + 1) < ops::kWorthSharing;
  // Down the columns, then along the row.
  runtime.pool().run(H, alone, [&](std::int64_t y, int thread) {
    double* const columns = sums + thread * W;
    const std::int64_t top = std::max<std::int64_t>(0, y - radius);
    const std::int64_t bottom = std::min(H, y + radius + 1);
    std::fill_n(columns, W, 0.0);
    for (std::int64_t row = top; row < bottom; ++row)
      for (std::int64_t x = 0; x < W; ++x) columns[x] += static_cast<double>(from[row * W + x]);
    for (std::int64_t x = 0; x < W; ++x) {
      const std::int64_t left = std::max<std::int64_t>(0, x - radius);
      const std::int64_t right = std::min(W, x + radius + 1);
      double sum = 0.0;
      for (std::int64_t column = left; column < right; ++column) sum += columns[column];
      to[y * W + x] =
          static_cast<float>(sum / static_cast<double>((bottom - top) * (right - left)));
    }
  });
  return mean;
}

NonLocalMeansResult non_local_means(Context& context, const TensorView& image,
                                    const NonLocalMeansOptions& options) {
  const Problem p(image, options);
  NonLocalMeansResult result{Tensor(image.shape()), Tensor(image.shape())};
  if (image.shape().elements() == 0) return result;
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const std::int64_t rows = p.height + 2 * p.radius;
  const std::int64_t stride = p.width + 2 * p.radius + kernels::kNonLocalSlack;
  float* const padded = scratch.take<float>(rows * stride);
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < stride; ++x)
      padded[y * stride + x] =
          x < stride - kernels::kNonLocalSlack ? p.pixel(y - p.radius, x - p.radius) : 0.0f;

  // The differences of patches that reach outside of a band are computed by its neighbour again;
  // but what a band works on should fit the second-level cache.
  constexpr std::int64_t kRows = 16;
  constexpr double kLog2E = std::numbers::log2e;
  const NonLocalBand whole{
      .padded = padded,
      .stride = stride,
      .height = p.height,
      .width = p.width,
      .first = 0,
      .rows = std::min(kRows, p.height),
      .patch_radius = p.radius,
      .search_radius = p.search,
      .noise = static_cast<float>(p.noise),
      // Not infinite, which times a distance of zero would be no number.
      .fall = -static_cast<float>(
          std::min(p.fall * kLog2E, static_cast<double>(std::numeric_limits<float>::max()))),
      .output = result.output.data().data(),
      .weight_sum = result.weight_sum.data().data(),
      .scratch = nullptr,
  };
  const std::int64_t size = runtime.kernels().image.non_local_scratch(whole);
  float* const own = scratch.take<float>(size * runtime.pool().threads());
  const double window = static_cast<double>(2 * p.search + 1);
  const bool alone =
      50.0 * static_cast<double>(image.shape().elements()) * window * window < ops::kWorthSharing;
  runtime.pool().run(ops::divide_up(p.height, kRows), alone, [&](std::int64_t piece, int thread) {
    NonLocalBand band = whole;
    band.first = piece * kRows;
    band.rows = std::min(kRows, p.height - band.first);
    band.scratch = own + thread * size;
    runtime.kernels().image.non_local_means(band);
  });
  return result;
}

Tensor non_local_means_weights(Context&, const TensorView& image, std::int64_t row,
                               std::int64_t column, const NonLocalMeansOptions& options) {
  const Problem p(image, options);
  require_count("row", row, p.height - 1);
  require_count("column", column, p.width - 1);
  Tensor weights(image.shape());
  float* const w = weights.data().data();
  std::fill_n(w, p.height * p.width, 0.0f);
  const std::int64_t top = std::max<std::int64_t>(0, row - p.search);
  const std::int64_t bottom = std::min(p.height, row + p.search + 1);
  const std::int64_t left = std::max<std::int64_t>(0, column - p.search);
  const std::int64_t right = std::min(p.width, column + p.search + 1);
  double sum = 0.0;
  for (std::int64_t y = top; y < bottom; ++y)
    for (std::int64_t x = left; x < right; ++x) {
      double distance = 0.0;
      for (std::int64_t v = -p.radius; v <= p.radius; ++v)
        for (std::int64_t u = -p.radius; u <= p.radius; ++u) {
          const double d = static_cast<double>(p.pixel(row + v, column + u)) -
                           static_cast<double>(p.pixel(y + v, x + u));
          distance += d * d;
        }
      w[y * p.width + x] =
          static_cast<float>(std::exp(-p.fall * std::max(distance - p.noise, 0.0)));
      sum += static_cast<double>(w[y * p.width + x]);
    }
  for (std::int64_t y = top; y < bottom; ++y)
    for (std::int64_t x = left; x < right; ++x)
      w[y * p.width + x] = static_cast<float>(static_cast<double>(w[y * p.width + x]) / sum);
  return weights;
}

}  // namespace heed
