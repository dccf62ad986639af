#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "heed/attention_pooling.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using kernels::NonLocalBand;

void require_count(const char* argument, std::int64_t count, std::int64_t most) {
  if (count < 0 || count > most)
    ops::refuse<OptionError>(argument, {"a number from 0 to ", most}, count);
}

/// The checked arguments for the kernel.
struct MeansProblem {
  MeansProblem(const TensorView& image, const NonLocalMeansOptions& options)
      : radius(options.patch_radius) {
    ops::require_floats("image", image, 2);
    pixels = {.pixels = image.data<float>().data(),
              .height = image.shape()[0],
              .width = image.shape()[1],
              .is_reflected = options.border == Border::kReflect};
    constexpr std::int64_t kMaxRadius = 1 << 20;
    require_count("patch_radius", radius, kMaxRadius);
    require_count("search_radius", options.search_radius, std::numeric_limits<std::int64_t>::max());
    ops::require_positive("h", options.h);
    if (!(options.sigma >= 0.0f) || !std::isfinite(options.sigma))
      ops::refuse<OptionError>("sigma", "a finite number from 0 on", options.sigma);
    search = std::min(options.search_radius, std::max(pixels.height, pixels.width));
    const double patch = static_cast<double>(2 * radius + 1) * static_cast<double>(2 * radius + 1);
    noise = 2.0 * static_cast<double>(options.sigma) * static_cast<double>(options.sigma) * patch;
    rate = 1.0 / (static_cast<double>(options.h) * static_cast<double>(options.h) * patch);
  }

  kernels::BorderedImage pixels;
  std::int64_t radius, search;
  /// A weight is exp(-rate * max(sum over the patch - noise, 0)).
  double noise, rate;
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
  const double operations = 4.0 * static_cast<double>(H * W) * static_cast<double>(radius + 1);
  runtime.pool().run(H, operations, [&](std::int64_t row, int thread) {
    runtime.kernels().image.local_mean({
        .image = image.data<float>().data(),
        .height = H,
        .width = W,
        .row = row,
        .radius = radius,
        .sums = sums + thread * W,
        .mean = mean.data().data(),
    });
  });
  return mean;
}

NonLocalMeansResult non_local_means(Context& context, const TensorView& image,
                                    const NonLocalMeansOptions& options) {
  const MeansProblem p(image, options);
  NonLocalMeansResult result{Tensor(image.shape()), Tensor(image.shape())};
  if (image.shape().elements() == 0) return result;
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const std::int64_t rows = p.pixels.height + 2 * p.radius;
  const std::int64_t stride = p.pixels.width + 2 * p.radius + kernels::kNonLocalSlack;
  float* const padded = scratch.take<float>(rows * stride);
  runtime.kernels().image.pad_image(p.pixels, p.radius, padded);

  // Where patches overlap two bands, their differences are computed twice, but the data of a small
  // band fits the second-level cache.
  constexpr std::int64_t kRows = 16;
  constexpr double kLog2E = std::numbers::log2e;
  const NonLocalBand whole{
      .padded = padded,
      .stride = stride,
      .height = p.pixels.height,
      .width = p.pixels.width,
      .first = 0,
      .rows = std::min(kRows, p.pixels.height),
      .patch_radius = p.radius,
      .search_radius = p.search,
      .noise = static_cast<float>(p.noise),
      // Not infinite, because infinity times a distance of zero is NaN.
      .rate = -static_cast<float>(
          std::min(p.rate * kLog2E, static_cast<double>(std::numeric_limits<float>::max()))),
      .output = result.output.data().data(),
      .weight_sum = result.weight_sum.data().data(),
      .scratch = nullptr,
  };
  const std::int64_t size = runtime.kernels().image.non_local_scratch(whole);
  float* const own = scratch.take<float>(size * runtime.pool().threads());
  const double window = static_cast<double>(2 * p.search + 1);
  const double operations = 50.0 * static_cast<double>(image.shape().elements()) * window * window;
  runtime.pool().run(ops::divide_up(p.pixels.height, kRows), operations,
                     [&](std::int64_t piece, int thread) {
                       NonLocalBand band = whole;
                       band.first = piece * kRows;
                       band.rows = std::min(kRows, p.pixels.height - band.first);
                       band.scratch = own + thread * size;
                       runtime.kernels().image.non_local_means(band);
                     });
  return result;
}

Tensor non_local_means_weights(Context& context, const TensorView& image, std::int64_t row,
                               std::int64_t column, const NonLocalMeansOptions& options) {
  const MeansProblem p(image, options);
  require_count("row", row, p.pixels.height - 1);
  require_count("column", column, p.pixels.width - 1);
  Tensor weights(image.shape());
  context.runtime().kernels().image.non_local_weights({
      .image = p.pixels,
      .row = row,
      .column = column,
      .patch_radius = p.radius,
      .search_radius = p.search,
      .noise = p.noise,
      .rate = p.rate,
      .weights = weights.data().data(),
  });
  return weights;
}

}  // namespace heed
