#include "heed/error.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "heed/tensor.hpp"

namespace heed {
namespace {

std::string text_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  if (std::abs(number) < 0x1p53 && number == std::floor(number))
    return std::to_string(static_cast<std::int64_t>(number));
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "%.7g", number);
  return text.data();
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

ShapeError::ShapeError(std::string_view argument, const MessagePart& expected,
                       const MessagePart& got)
    : Error(ErrorCode::kShape, argument, expected, got) {}

DTypeError::DTypeError(std::string_view argument, const MessagePart& expected,
                       const MessagePart& got)
    : Error(ErrorCode::kDType, argument, expected, got) {}

OptionError::OptionError(std::string_view argument, const MessagePart& expected,
                         const MessagePart& got)
    : Error(ErrorCode::kOption, argument, expected, got) {}

MemoryError::MemoryError(const std::string& message) : Error(ErrorCode::kMemory, message) {}

}  // namespace heed
