// The elementary functions, compared with the functions of the C library in long double.

#include <cmath>
#include <limits>
#include <utility>

#include "kernels/elementary.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

/// The error in units of the last place of the expected number.
double error_of(double got, long double want) {
  const double size = std::abs(static_cast<double>(want));
  const double unit = std::nextafter(size, kInfinity) - size;
  return static_cast<double>(std::abs(static_cast<long double>(got) - want)) / unit;
}

/// The largest of some errors; NaN if one of them is.
struct Largest {
  double error = 0.0;
  void add(double x) {
    if (!(x <= error) && !std::isnan(error)) error = x;
  }
};

constexpr int kNumbers = 20000;
constexpr double kLargestError = 1.0;

TEST(Elementary, FunctionsAreAccurate) {
  Largest exponential, logarithm, power, sine, cosine;
  for (int i = 1; i <= kNumbers; ++i) {
    const double share = i / (kNumbers + 1.0);
    for (const double x : {1400.0 * share - 700.0, share - 0.5})
      exponential.add(error_of(kernels::exponential(x), std::exp(static_cast<long double>(x))));
    for (const double x : {share, 2.0 * share, 1e-300 * share, 1e300 * share})
      logarithm.add(error_of(kernels::logarithm(x), std::log(static_cast<long double>(x))));
    for (const double base : {0.9, 0.999, 100.0, 10000.0, 500000.0})
      for (const double x : {share, -share, 40.0 * share})
        power.add(error_of(kernels::power(base, x), std::pow(static_cast<long double>(base), x)));
    for (const double x : {7.0 * share, -1e3 * share, 1.6e6 * share, 1e9 * share}) {
      const auto got = kernels::sine_cosine(x);
      sine.add(error_of(got.sine, std::sin(static_cast<long double>(x))));
      cosine.add(error_of(got.cosine, std::cos(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(exponential.error, kLargestError);
  EXPECT_LT(logarithm.error, kLargestError);
  EXPECT_LT(power.error, kLargestError);
  EXPECT_LT(sine.error, kLargestError);
  EXPECT_LT(cosine.error, kLargestError);
}

TEST(Elementary, SinesOfLargeAnglesAreAccurate) {
  Largest small, large;
  for (int i = 1; i <= kNumbers; ++i) {
    const double share = i / (kNumbers + 1.0);
    for (const auto& [x, largest] :
         {std::pair(0x1p20 * share, &small), {0x1p53 * share, &large}, {831592367.97, &large}}) {
      const auto [s, c] = kernels::sine_cosine(x);
      const auto exact = static_cast<long double>(x);
      largest->add(static_cast<double>(std::abs(s - std::sin(exact))));
      largest->add(static_cast<double>(std::abs(c - std::cos(exact))));
    }
  }
  EXPECT_LT(small.error, 0x1p-52);
  EXPECT_LT(large.error, 1e-12);
  for (const double x : {0x1p57, 1e17, -1e18, 1e30, 1e100, -1e300}) {
    const auto [s, c] = kernels::sine_cosine(x);
    EXPECT_NEAR(s * s + c * c, 1.0, 1e-6) << x;
  }
}

TEST(Elementary, FunctionsKnowTheirLimits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(kernels::exponential(0.0), 1.0);
  EXPECT_EQ(kernels::exponential(710.0), kInfinity);
  EXPECT_EQ(kernels::exponential(kInfinity), kInfinity);
  EXPECT_EQ(kernels::exponential(-kInfinity), 0.0);
  EXPECT_EQ(kernels::exponential(-745.0), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(kernels::exponential(nan)));
  EXPECT_EQ(kernels::logarithm(1.0), 0.0);
  EXPECT_EQ(kernels::logarithm(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(kernels::logarithm(nan)));
  EXPECT_EQ(kernels::power(10000.0, 0.0), 1.0);
  EXPECT_EQ(kernels::power(0.0, 1.0), 0.0);
  EXPECT_EQ(kernels::sine_cosine(0.0).sine, 0.0);
  EXPECT_EQ(kernels::sine_cosine(0.0).cosine, 1.0);
  EXPECT_TRUE(std::isnan(kernels::sine_cosine(kInfinity).sine));
}

}  // namespace
}  // namespace heed::test
