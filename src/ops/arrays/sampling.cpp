#include "heed/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/arrays/random.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

/// Hands out the places of a row, the largest number first, as many as are wanted: to order the
/// whole row would take longer.
class Descending {
 public:
  /// `places` has room for all.
  Descending(const float* row, std::int64_t size, std::int32_t* places)
      : row_(row), places_(places), end_(places + size) {
    for (std::int64_t i = 0; i < size; ++i) places[i] = static_cast<std::int32_t>(i);
    std::make_heap(places_, end_, Comes{row_});
  }
  std::int32_t next() {
    std::pop_heap(places_, end_, Comes{row_});
    return *--end_;
  }

 private:
  /// Whether a comes after b.
  struct Comes {
    const float* row;
    bool operator()(std::int32_t a, std::int32_t b) const {
      const bool is_nan = std::isnan(row[a]);
      if (is_nan != std::isnan(row[b])) return is_nan;
      return row[a] < row[b] || (!(row[a] > row[b]) && a > b);
    }
  };

  const float* row_;
  std::int32_t* places_;
  std::int32_t* end_;
};

std::int64_t row_size(const char* argument, const TensorView& x) {
  ops::require_dtype(argument, x, DType::kFloat32);
  if (x.shape().rank() < 1) throw ShapeError(argument, "rank 1 or more", to_string(x.shape()));
  const std::int64_t size = x.shape()[-1];
  if (size < 1 || size > std::numeric_limits<std::int32_t>::max())
    throw ShapeError(argument, "a last axis of 1 to 2^31 - 1", to_string(x.shape()));
  return size;
}

/// Draws from one row. `places` and `chosen` have room for all of it, `weights` too.
class Sampler {
 public:
  Sampler(const SampleOptions& options, std::int64_t size, Arena::Scope& scratch)
      : options_(options),
        size_(size),
        places_(scratch.take<std::int32_t>(size)),
        chosen_(scratch.take<std::int32_t>(size)) {}

  std::int32_t operator()(const float* row, double fraction) const {
    const auto largest = static_cast<std::int32_t>(std::max_element(row, row + size_) - row);
    if (options_.temperature == 0.0f) return largest;
    const auto weight = [&, highest = row[largest]](std::int32_t place) {
      // Of infinities the difference would be no number.
      if (row[place] == highest) return 1.0;
      return std::exp((static_cast<double>(row[place]) - static_cast<double>(highest)) /
                      static_cast<double>(options_.temperature));
    };

    const std::int64_t most =
        options_.top_k == 0 ? size_ : std::min<std::int64_t>(options_.top_k, size_);
    std::int64_t count = size_;
    double sum = 0.0;
    if (most == size_ && options_.top_p >= 1.0f) {
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(size_); ++i) {
        chosen_[i] = i;
        sum += weight(i);
      }
    } else {
      Descending descending(row, size_, places_);
      for (count = 0; most < size_ && count < most; ++count) {
        chosen_[count] = descending.next();
        sum += weight(chosen_[count]);
      }
      if (most == size_)
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(size_); ++i) sum += weight(i);
      const double enough = static_cast<double>(options_.top_p) * sum;
      const std::int64_t known = count;
      sum = 0.0;
      for (count = 0; count < most && (count == 0 || sum < enough); ++count) {
        if (count >= known) chosen_[count] = descending.next();
        sum += weight(chosen_[count]);
      }
    }

    double left = fraction * sum;
    std::int32_t last = largest;  // that is possible, should rounding lead beyond the end
    for (std::int64_t i = 0; i < count; ++i) {
      const double w = weight(chosen_[i]);
      if (w == 0.0) continue;
      last = chosen_[i];
      left -= w;
      if (left < 0.0) break;
    }
    return last;
  }

 private:
  const SampleOptions& options_;
  std::int64_t size_;
  std::int32_t* places_;
  std::int32_t* chosen_;
};

}  // namespace

TopKResult top_k(Context& context, const TensorView& x, std::int64_t k) {
  const std::int64_t size = row_size("x", x);
  if (k < 1 || k > size)
    throw OptionError("k", "a number from 1 to " + std::to_string(size), std::to_string(k));
  const Shape shape = ops::with_last(x.shape(), k);
  TopKResult result{Tensor(shape), Tensor(shape, DType::kInt32)};
  if (x.shape().elements() == 0) return result;
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  std::int32_t* const places = scratch.take<std::int32_t>(size * runtime.pool().threads());
  const float* const numbers = x.data<float>().data();
  float* const values = result.values.data().data();
  std::int32_t* const indices = result.indices.data<std::int32_t>().data();
  const bool alone = 4.0 * static_cast<double>(x.shape().elements()) < ops::kWorthSharing;
  runtime.pool().run(x.shape().elements() / size, alone, [&](std::int64_t row, int thread) {
    const float* const from = numbers + row * size;
    Descending descending(from, size, places + thread * size);
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) {
      indices[i] = descending.next();
      values[i] = from[indices[i]];
    }
  });
  return result;
}

Tensor sample(Context& context, const TensorView& logits, const SampleOptions& options) {
  const std::int64_t size = row_size("logits", logits);
  if (!(options.temperature >= 0.0f) || !std::isfinite(options.temperature))
    throw OptionError("temperature", "a finite number from 0 on",
                      std::to_string(options.temperature));
  if (options.top_k < 0) throw OptionError("top_k", "0 or more", std::to_string(options.top_k));
  if (!(options.top_p > 0.0f && options.top_p <= 1.0f))
    throw OptionError("top_p", "a number above 0 and up to 1", std::to_string(options.top_p));
  const float* const numbers = logits.data<float>().data();
  const std::int64_t rows = logits.shape().elements() / size;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* const from = numbers + row * size;
    const bool has_nan = std::any_of(from, from + size, [](float x) { return std::isnan(x); });
    if (has_nan || *std::max_element(from, from + size) == -std::numeric_limits<float>::infinity())
      throw OptionError(
          "logits", "rows without NaN and with more than -inf",
          (has_nan ? "NaN in row " : "nothing but -inf in row ") + std::to_string(row));
  }

  Tensor tokens(Shape(logits.shape().sizes().first(logits.shape().sizes().size() - 1)),
                DType::kInt32);
  if (rows == 0) return tokens;
  Arena::Scope scratch(context.runtime().arena());
  const Sampler sampler(options, size, scratch);
  std::int32_t* const out = tokens.data<std::int32_t>().data();
  for (std::int64_t row = 0; row < rows; ++row)
    out[row] = sampler(numbers + row * size, ops::random_fraction(options.seed, row));
  return tokens;
}

}  // namespace heed
