#pragma once

// The examples of the C++ reference are tests of the suite Example, next to the other tests of
// their functions. The page of the headers shows the body of a test under the declaration with the
// test's name. Other declarations that the test uses link to it. tests/js/house/documented.test.ts
// checks that each function, class and constant has an example.

#include <gtest/gtest.h>

#include <vector>

#include "heed/heed.hpp"

namespace heed::test {

using Numbers = std::vector<float>;

/// The elements of a tensor.
inline Numbers numbers(const Tensor& x) { return {x.data().begin(), x.data().end()}; }

class Example : public testing::Test {
 protected:
  Context context;
};

}  // namespace heed::test
