#include "heed/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heed/tensor.hpp"

namespace heed {
namespace {

std::string text_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  if (std::abs(number) < 0x1p53 && number == std::floor(number))
    return std::to_string(static_cast<std::int64_t>(number));
  // The digits of the number are the digits of the whole number `significant`; 10^exponent is the
  // value of the first one. Not std::snprintf, which adds 4 KB to the WebAssembly binary.
  constexpr int kDigits = 7;
  constexpr double kLeast = 1e6, kEnd = 1e7;
  int exponent = kDigits - 1;
  double significant = std::abs(number);
  for (; significant >= kEnd; ++exponent) significant /= 10.0;
  for (; significant < kLeast; --exponent) significant *= 10.0;
  significant = std::nearbyint(significant);
  if (significant == kEnd) {
    significant = kLeast;
    ++exponent;
  }
  const std::string digits = std::to_string(static_cast<std::int64_t>(significant));
  const bool has_power = exponent < -4 || exponent >= kDigits;
  const int whole = has_power ? 1 : std::max(exponent + 1, 0);  // digits before the point
  std::string text(number < 0 ? "-" : "");
  if (whole == 0) text += '0';
  text.append(digits, 0, static_cast<std::size_t>(whole));
  text += '.';
  if (whole == 0) text.append(static_cast<std::size_t>(-exponent - 1), '0');
  text.append(digits, static_cast<std::size_t>(whole));
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  if (has_power) {
    const int power = std::abs(exponent);
    text += exponent < 0 ? "e-" : "e+";
    if (power < 10) text += '0';
    text += std::to_string(power);
  }
  return text;
}

}  // namespace

std::string MessagePart::text() const {
  std::string text(words_);
  switch (kind_) {
    case Kind::kWords:
      break;
    case Kind::kInteger:
      text += std::to_string(integer_);
      break;
    case Kind::kNumber:
      text += text_of(number_);
      break;
    case Kind::kShape:
      text += to_string(*shape_);
      break;
    case Kind::kDType:
      text += to_string(dtype_);
      break;
  }
  return text;
}

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {}

Error::Error(ErrorCode code, std::string_view argument, const MessagePart& expected,
             const MessagePart& got)
    : Error(code, std::string(argument)
                      .append(": expected ")
                      .append(expected.text())
                      .append(", got ")
                      .append(got.text())) {}

MemoryError::MemoryError(const std::string& message) : Error(ErrorCode::kMemory, message) {}

CancelledError::CancelledError()
    : Error(ErrorCode::kCancelled, "call: expected to finish, got cancelled") {}

StoppedError::StoppedError(const std::string& why) : std::runtime_error(why) {}

}  // namespace heed
