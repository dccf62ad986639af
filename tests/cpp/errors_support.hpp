#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "support.hpp"

namespace heed::test {

/// `call` throws an error with this code whose message is "ARGUMENT: expected ..., got GOT".
template <class Call>
void expect_refusal(ErrorCode code, std::string_view argument, std::string_view got,
                    const Call& call) {
  SCOPED_TRACE(testing::Message() << argument << ", got " << got);
  try {
    call();
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    const std::string message = error.what();
    const std::string begin = std::string(argument) + ": expected ";
    const std::string end = ", got " + std::string(got);
    EXPECT_EQ(message.substr(0, begin.size()), begin) << message;
    EXPECT_GT(message.size(), begin.size() + end.size()) << message;
    EXPECT_EQ(message.substr(message.size() - std::min(end.size(), message.size())), end)
        << message;
  }
}

}  // namespace heed::test
