#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace heed {

/// Why a call was refused. The same words are the `code` of a HeedError in TypeScript.
enum class ErrorCode { kShape, kDType, kOption, kMemory };

/// Base of everything this library throws. Every call checks its arguments before it writes
/// anything: after an error the arguments and the context are as they were.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  /// All messages have one form: "q: expected rank 3 or 4, got [2, 8]".
  Error(ErrorCode code, std::string_view argument, std::string_view expected, std::string_view got);

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// A rank or a size does not fit.
class ShapeError : public Error {
 public:
  ShapeError(std::string_view argument, std::string_view expected, std::string_view got);
};

/// An element type does not fit.
class DTypeError : public Error {
 public:
  DTypeError(std::string_view argument, std::string_view expected, std::string_view got);
};

/// An option has a value outside its range, or two options exclude each other.
class OptionError : public Error {
 public:
  OptionError(std::string_view argument, std::string_view expected, std::string_view got);
};

/// There is not enough memory. The context stays usable.
class MemoryError : public Error {
 public:
  explicit MemoryError(const std::string& message);
};

}  // namespace heed
