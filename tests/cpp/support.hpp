#pragma once

// Helpers of all tests: repeatable random tensors, and comparisons that report where they failed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/heed.hpp"
#include "reference/array.hpp"

namespace heed::test {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The same numbers on every machine: the standard fixes the generator but not its distributions.
class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  /// For a fuzzer, whose bytes decide each integer and each chance, but not the elements. The
  /// generator decides everything else, and everything after the last byte.
  explicit Random(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    generator_.seed(decision(4));
  }

  /// In [low, high).
  float real(float low = -1.0f, float high = 1.0f) {
    return low + (high - low) * (static_cast<float>(bits() >> 8) * 0x1p-24f);
  }
  /// In [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(decision(high - low < 65536 ? 2 : 4)) % (high - low + 1);
  }
  bool chance(int percent) { return integer(0, 99) < percent; }

  Tensor reals(const Shape& shape, float low = -1.0f, float high = 1.0f) {
    Tensor tensor(shape);
    for (float& value : tensor.data()) value = real(low, high);
    return tensor;
  }
  Tensor bools(const Shape& shape, int percent_true) {
    Tensor tensor(shape, DType::kBool);
    for (bool& value : tensor.data<bool>()) value = drawn(percent_true);
    return tensor;
  }
  /// A float mask: numbers to add, and -inf for some of them.
  Tensor biases(const Shape& shape, int percent_hidden) {
    Tensor tensor = reals(shape, -2.0f, 2.0f);
    for (float& value : tensor.data()) {
      if (drawn(percent_hidden)) value = -INFINITY;
    }
    return tensor;
  }

 private:
  std::uint32_t bits() { return static_cast<std::uint32_t>(generator_()); }
  bool drawn(int percent) { return bits() % 100 < static_cast<std::uint32_t>(percent); }
  std::uint32_t decision(std::size_t size) {
    if (bytes_.size() < size) return bits();
    std::uint32_t result = 0;
    for (const std::uint8_t byte : bytes_.first(size)) result = result * 256 + byte;
    bytes_ = bytes_.subspan(size);
    return result;
  }

  std::mt19937 generator_;
  std::span<const std::uint8_t> bytes_;
};

inline Tensor integers(const Shape& shape, std::initializer_list<std::int32_t> values) {
  Tensor tensor(shape, DType::kInt32);
  std::copy(values.begin(), values.end(), tensor.data<std::int32_t>().begin());
  return tensor;
}

inline Tensor bools(const Shape& shape, std::initializer_list<bool> values) {
  Tensor tensor(shape, DType::kBool);
  std::copy(values.begin(), values.end(), tensor.data<bool>().begin());
  return tensor;
}

inline Tensor filled(const Shape& shape, float value) {
  Tensor tensor(shape);
  std::fill_n(tensor.data().data(), tensor.data().size(), value);
  return tensor;
}

/// |got - want| <= absolute + relative |want|. The default fits float32 results of order 1 that are
/// sums of a few hundred terms: each step rounds by 6e-8, and the errors partly cancel.
struct Tolerance {
  double absolute = 1e-5;
  double relative = 1e-5;
};

/// "[1, 0, 7]" for the element `index` of a row-major array.
inline std::string coordinates(std::int64_t index, const Shape& shape) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = std::to_string(index % shape[axis]) + (text.empty() ? "" : ", ") + text;
    index /= shape[axis];
  }
  return "[" + text + "]";
}

/// NaN equals only NaN, and an infinity only itself.
inline testing::AssertionResult close(const Tensor& got, const reference::Array& want,
                                      const Tolerance& tolerance = {}) {
  if (!(got.shape() == want.shape)) {
    return testing::AssertionFailure()
           << "got shape " << to_string(got.shape()) << ", want " << to_string(want.shape);
  }
  // By pointers, because sanitizers check each call that a vector or a span makes.
  const float* const values = got.data().data();
  const double* const wanted = want.values.data();
  for (std::size_t i = 0, count = got.data().size(); i < count; ++i) {
    const double g = values[i];
    const double w = wanted[i];
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double limit = tolerance.absolute + tolerance.relative * std::abs(w);
    if (std::isfinite(w) && std::abs(g - w) <= limit) continue;
    return testing::AssertionFailure()
           << "at " << coordinates(static_cast<std::int64_t>(i), want.shape) << " of "
           << to_string(want.shape) << ": got " << g << ", want " << w << ", error "
           << std::abs(g - w) << ", allowed " << limit;
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult close(const std::optional<Tensor>& got,
                                      const reference::Array& want,
                                      const Tolerance& tolerance = {}) {
  if (!got) return testing::AssertionFailure() << "got nothing";
  return close(*got, want, tolerance);
}

inline testing::AssertionResult same_bits(const Tensor& got, const Tensor& want) {
  if (!(got.shape() == want.shape())) {
    return testing::AssertionFailure()
           << "got shape " << to_string(got.shape()) << ", want " << to_string(want.shape());
  }
  const auto ours = got.data(), theirs = want.data();
  if (ours.empty() || std::memcmp(ours.data(), theirs.data(), ours.size_bytes()) == 0)
    return testing::AssertionSuccess();
  std::size_t i = 0;
  while (std::memcmp(&ours[i], &theirs[i], sizeof(float)) == 0) ++i;
  return testing::AssertionFailure()
         << "at " << coordinates(static_cast<std::int64_t>(i), want.shape()) << " of "
         << to_string(want.shape()) << ": got " << ours[i] << ", want " << theirs[i];
}

inline testing::AssertionResult same_bits(const std::optional<Tensor>& got,
                                          const std::optional<Tensor>& want) {
  if (!got || !want) return testing::AssertionFailure() << "a result is missing";
  return same_bits(*got, *want);
}

/// One thread, an even and an odd number, and more threads than most tests have pieces of work.
inline constexpr int kThreadCounts[] = {1, 2, 3, 8};

inline Context context_with_threads(int threads) {
  Context::Options options;
  options.threads = threads;
  return Context(options);
}

inline void add_to(std::vector<Tensor>& list, Tensor&& tensor) {
  list.push_back(std::move(tensor));
}
inline void add_to(std::vector<Tensor>& list, std::optional<Tensor>&& tensor) {
  if (tensor) list.push_back(std::move(*tensor));
}
template <class... Results>
std::vector<Tensor> list_of(Results&&... results) {
  std::vector<Tensor> list;
  (add_to(list, std::forward<Results>(results)), ...);
  return list;
}

/// Expects that `results(context)`, a list of tensors, has the same bits for any number of threads.
template <class Results>
void expect_same_bits_for_any_threads(const Results& results) {
  Context alone;
  const std::vector<Tensor> want = results(alone);
  for (const int threads : {1, 2, 3, 5, 8}) {
    Context context = context_with_threads(threads);
    const std::vector<Tensor> got = results(context);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_TRUE(same_bits(got[i], want[i])) << "result " << i << ", " << threads << " threads";
  }
}

/// Expects that `result(context)` has the same bits on an instruction set with dot products of
/// bytes and on the set that it extends: "avx512+vnni" and "avx512".
template <class Result>
void expect_same_bits_on_extended_isas(const Result& result) {
  for (const std::string_view isa : Context::available_isas()) {
    const std::size_t plus = isa.find('+');
    if (plus == std::string_view::npos) continue;
    SCOPED_TRACE(std::string(isa));
    Context extended(Context::Options{.isa = isa}),
        base(Context::Options{.isa = isa.substr(0, plus)});
    EXPECT_EQ(extended.isa(), isa);
    EXPECT_TRUE(same_bits(result(extended), result(base)));
  }
}

/// Nearly normal, with mean 0 and variance 1.
inline Tensor normal_numbers(Random& random, const Shape& shape) {
  Tensor tensor(shape);
  for (float& value : tensor.data()) {
    value = 0.0f;
    for (int i = 0; i < 12; ++i) value += random.real(-0.5f, 0.5f);
  }
  return tensor;
}

/// The root mean square of the error, relative to the root mean square of the expected numbers, and
/// their cosine similarity.
struct Difference {
  double relative;
  double cosine;
};
inline Difference difference(const Tensor& got, const reference::Array& want) {
  double error = 0.0, product = 0.0, square_got = 0.0, square_want = 0.0;
  for (std::size_t i = 0; i < want.values.size(); ++i) {
    const double g = got.data()[i], w = want.values[i];
    error += (g - w) * (g - w);
    product += g * w;
    square_got += g * g;
    square_want += w * w;
  }
  return {std::sqrt(error / square_want), product / std::sqrt(square_got * square_want)};
}

}  // namespace heed::test
