#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heed {

class Shape;
enum class DType : std::uint8_t;

/// Why a call was refused. A HeedError in TypeScript has the same word as its `code`.
enum class ErrorCode { kShape, kDType, kOption, kMemory, kCancelled };

/// A part of a message: words, a number, a shape or a type, or words and one of the others. It
/// refers to its arguments, which must exist until the error has been constructed.
class MessagePart {
 public:
  MessagePart(const char* words) : words_(words) {}
  MessagePart(const std::string& words) : words_(words) {}
  MessagePart(std::string_view words) : words_(words) {}
  MessagePart(std::integral auto number) : MessagePart("", number) {}
  MessagePart(std::floating_point auto number) : MessagePart("", number) {}
  MessagePart(const Shape& shape) : MessagePart("", shape) {}
  MessagePart(DType dtype) : MessagePart("", dtype) {}

  MessagePart(std::string_view words, std::integral auto number)
      : words_(words), kind_(Kind::kInteger), integer_(static_cast<std::int64_t>(number)) {}
  MessagePart(std::string_view words, std::floating_point auto number)
      : words_(words), kind_(Kind::kNumber), number_(static_cast<double>(number)) {}
  MessagePart(std::string_view words, const Shape& shape)
      : words_(words), kind_(Kind::kShape), shape_(&shape) {}
  MessagePart(std::string_view words, DType dtype)
      : words_(words), kind_(Kind::kDType), dtype_(dtype) {}

  /// Whole numbers in full, others with up to 7 significant digits.
  std::string text() const;

 private:
  enum class Kind : std::uint8_t { kWords, kInteger, kNumber, kShape, kDType };

  std::string_view words_;
  Kind kind_ = Kind::kWords;
  union {
    std::int64_t integer_ = 0;
    double number_;
    const Shape* shape_;
    DType dtype_;
  };
};

/// The base of all exceptions of this library. Every call checks its arguments before it writes
/// anything: an error leaves the arguments and the context unchanged.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  /// All messages have one form: "q: expected rank 3 or 4, got [2, 8]".
  Error(ErrorCode code, std::string_view argument, const MessagePart& expected,
        const MessagePart& got);

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// An argument was refused for the reason that the code gives.
template <ErrorCode Code>
class ArgumentError : public Error {
 public:
  ArgumentError(std::string_view argument, const MessagePart& expected, const MessagePart& got)
      : Error(Code, argument, expected, got) {}
};

/// A rank or a size does not fit.
using ShapeError = ArgumentError<ErrorCode::kShape>;
/// An element type does not fit.
using DTypeError = ArgumentError<ErrorCode::kDType>;
/// An option has a value outside its range, or two options exclude each other.
using OptionError = ArgumentError<ErrorCode::kOption>;

/// There is not enough memory. The context stays usable.
class MemoryError : public Error {
 public:
  explicit MemoryError(const std::string& message);
};

/// The call was cancelled: see Context::call. The context stays usable.
class CancelledError : public Error {
 public:
  CancelledError();
};

/// A thread of the context has stopped in the middle of its work, as WebAssembly stops one by a
/// trap. Results are not complete, and the context must not be used any more.
class StoppedError : public std::runtime_error {
 public:
  explicit StoppedError(const std::string& why);
};

}  // namespace heed
