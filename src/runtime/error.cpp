#include "heed/error.hpp"

namespace heed {

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {}

Error::Error(ErrorCode code, std::string_view argument, std::string_view expected,
             std::string_view got)
    : Error(code, std::string(argument)
                      .append(": expected ")
                      .append(expected)
                      .append(", got ")
                      .append(got)) {}

ShapeError::ShapeError(std::string_view argument, std::string_view expected, std::string_view got)
    : Error(ErrorCode::kShape, argument, expected, got) {}

DTypeError::DTypeError(std::string_view argument, std::string_view expected, std::string_view got)
    : Error(ErrorCode::kDType, argument, expected, got) {}

OptionError::OptionError(std::string_view argument, std::string_view expected, std::string_view got)
    : Error(ErrorCode::kOption, argument, expected, got) {}

MemoryError::MemoryError(const std::string& message) : Error(ErrorCode::kMemory, message) {}

}  // namespace heed
