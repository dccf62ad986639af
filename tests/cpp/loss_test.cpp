// Cross-entropy, and the gradients of softmax, dropout and embeddings.

#include <cmath>
#include <cstdint>
#include <vector>

#include "errors_support.hpp"
#include "gradient_support.hpp"
#include "reference/cross_entropy.hpp"
#include "reference/embedding.hpp"

namespace heed::test {
namespace {

constexpr Reduction kReductions[] = {Reduction::kMean, Reduction::kSum, Reduction::kNone};

/// Indices in [low, high].
Tensor random_ids(Random& random, const Shape& shape, std::int64_t low, std::int64_t high) {
  Tensor ids(shape, DType::kInt32);
  for (std::int32_t& id : ids.data<std::int32_t>())
    id = static_cast<std::int32_t>(random.integer(low, high));
  return ids;
}

/// The options: every reduction, with and without smoothing and an ignored index.
template <class Check>
void for_options(const Check& check) {
  for (const Reduction reduction : kReductions) {
    for (const float smoothing : {0.0f, 0.2f, 1.0f}) {
      for (const bool ignores : {false, true}) {
        CrossEntropyOptions options;
        options.reduction = reduction;
        options.label_smoothing = smoothing;
        if (ignores) options.ignore_index = 1;
        SCOPED_TRACE(testing::Message() << "reduction " << static_cast<int>(reduction)
                                        << " smoothing " << smoothing << " ignores " << ignores);
        check(options);
      }
    }
  }
}

TEST(SoftmaxBackward, MatchesTheReference) {
  Random random(1);
  Context context;
  for (const std::int64_t columns : {0, 1, 2, 7, 16, 33, 70, 5000}) {
    const Tensor y = softmax(context, random.reals({3, columns}, -5.0f, 5.0f));
    const Tensor d_y = random.reals({3, columns});
    EXPECT_TRUE(
        close(softmax_backward(context, d_y, y), reference::softmax_backward(d_y, y), {1e-6, 1e-6}))
        << columns << " columns";
  }
  const reference::Array x(random.reals({2, 6}));
  const Tensor d_y = random.reals({2, 6});
  EXPECT_TRUE(is_gradient(reference::softmax_backward(d_y, reference::softmax(x)), x, d_y,
                          [](const reference::Array& a) { return reference::softmax(a); }));
}

TEST(CrossEntropy, AgreesWithFiniteDifferencesInTheReference) {
  Random random(2);
  const Tensor logits = random.reals({4, 5}, -3.0f, 3.0f);
  const Tensor targets = integers({4}, {0, 1, 4, 1});
  for_options([&](const CrossEntropyOptions& options) {
    const bool is_whole = options.reduction != Reduction::kNone;
    const Tensor d_loss = random.reals(is_whole ? Shape{} : Shape{4});
    EXPECT_TRUE(is_gradient(
        reference::cross_entropy_backward(d_loss, logits, targets, options), logits, d_loss,
        [&](const reference::Array& a) { return reference::cross_entropy(a, targets, options); }));
  });
}

TEST(CrossEntropy, MatchesTheReferenceForAllSizes) {
  Random random(3);
  Context context;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{37}, Shape{2, 3}, Shape{3, 0}}) {
    for (const std::int64_t classes : {2, 3, 16, 37, 3000}) {
      std::vector<std::int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
      sizes.push_back(classes);
      const Tensor logits = random.reals(Shape(sizes), -9.0f, 9.0f);
      const Tensor targets = random_ids(random, shape, 0, classes - 1);
      for_options([&](const CrossEntropyOptions& options) {
        SCOPED_TRACE(testing::Message() << to_string(logits.shape()));
        EXPECT_TRUE(close(cross_entropy(context, logits, targets, options),
                          reference::cross_entropy(logits, targets, options), {1e-6, 1e-6}));
        const bool is_whole = options.reduction != Reduction::kNone;
        const Tensor d_loss = random.reals(is_whole ? Shape{} : shape);
        EXPECT_TRUE(close(cross_entropy_backward(context, d_loss, logits, targets, options),
                          reference::cross_entropy_backward(d_loss, logits, targets, options),
                          {1e-6, 1e-6}));
      });
    }
  }
}

TEST(CrossEntropy, IsZeroForOneClass) {
  Context context;
  const Tensor logits(Shape{2, 1}, {3, -7}), targets = integers({2}, {0, 0});
  EXPECT_EQ(cross_entropy(context, logits, targets).data()[0], 0.0f);
  EXPECT_TRUE(same_bits(cross_entropy_backward(context, filled({}, 1.0f), logits, targets),
                        Tensor(Shape{2, 1}, {0, 0})));
}

TEST(CrossEntropy, StaysFiniteForLargeLogits) {
  Context context;
  const Tensor logits(Shape{3, 3}, {1e4f, 1e4f, -1e4f, -3e38f, 3e38f, 0, 5, -kInfinity, 4});
  const Tensor targets = integers({3}, {0, 1, 2});
  CrossEntropyOptions options;
  options.reduction = Reduction::kNone;
  EXPECT_TRUE(close(cross_entropy(context, logits, targets, options),
                    reference::cross_entropy(logits, targets, options), {1e-6, 1e-6}));
}

TEST(CrossEntropy, DoesNotReadIgnoredRows) {
  Random random(4);
  Context context;
  Tensor logits = random.reals({4, 6});
  for (std::size_t c = 0; c < 6; ++c) logits.data()[6 + c] = kNaN;
  const Tensor targets = integers({4}, {0, -100, 2, 3});
  CrossEntropyOptions options;
  options.ignore_index = -100;
  EXPECT_TRUE(std::isfinite(cross_entropy(context, logits, targets, options).data()[0]));
  const Tensor d = cross_entropy_backward(context, filled({}, 1.0f), logits, targets, options);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_TRUE(std::isfinite(d.data()[i])) << i;
    EXPECT_EQ(d.data()[i] == 0.0f, i / 6 == 1) << i;
  }
}

TEST(CrossEntropy, IsNaNWithoutRows) {
  Random random(5);
  Context context;
  const Tensor logits = random.reals({2, 6}), none = random.reals({0, 6});
  CrossEntropyOptions options;
  options.ignore_index = 3;
  const Tensor targets = integers({2}, {3, 3});
  EXPECT_TRUE(std::isnan(cross_entropy(context, logits, targets, options).data()[0]));
  EXPECT_TRUE(std::isnan(cross_entropy(context, none, integers({0}, {})).data()[0]));
  EXPECT_TRUE(same_bits(cross_entropy_backward(context, filled({}, 1.0f), logits, targets, options),
                        filled({2, 6}, 0.0f)));
  options.reduction = Reduction::kSum;
  EXPECT_EQ(cross_entropy(context, logits, targets, options).data()[0], 0.0f);
}

TEST(Dropout, SetsAFractionToZeroAndScalesTheOthers) {
  Random random(6);
  Context context;
  const Tensor x = random.reals({100001}, 1.0f, 2.0f);
  for (const double rate : {0.0, 0.1, 0.5, 0.9, 1.0 - 1e-12}) {
    const Tensor y = dropout(context, x, rate, 7);
    double dropped = 0.0;
    for (std::size_t i = 0; i < x.data().size(); ++i) {
      dropped += y.data()[i] == 0.0f ? 1.0 : 0.0;
      if (y.data()[i] != 0.0f) {
        EXPECT_FLOAT_EQ(y.data()[i], static_cast<float>(x.data()[i] / (1.0 - rate)));
      }
    }
    EXPECT_NEAR(dropped / 100001.0, rate, 0.006) << rate;
  }
}

TEST(Dropout, DependsOnTheSeedAndTheIndex) {
  Random random(7);
  Context context;
  const Tensor x = random.reals({2, 9001}, 1.0f, 2.0f), d_y = random.reals({2, 9001}, 1.0f, 2.0f);
  const Tensor y = dropout(context, x, 0.5, 7);
  const Tensor d_x = dropout(context, d_y, 0.5, 7);
  const Tensor other = dropout(context, x, 0.5, 8);
  std::size_t same = 0;
  std::size_t same_row = 0;
  for (std::size_t i = 0; i < x.data().size(); ++i) {
    EXPECT_EQ(y.data()[i] == 0.0f, d_x.data()[i] == 0.0f);
    same += (y.data()[i] == 0.0f) == (other.data()[i] == 0.0f) ? 1u : 0u;
    same_row += (y.data()[i] == 0.0f) == (y.data()[(i + 4096) % 18002] == 0.0f) ? 1u : 0u;
  }
  EXPECT_NEAR(static_cast<double>(same), 9001.0, 400.0);
  EXPECT_NEAR(static_cast<double>(same_row), 9001.0, 400.0);
  // With fewer numbers the first ones are the same, for any shape.
  const Tensor few = dropout(context, TensorView(x.data().data(), Shape{11, 3}), 0.5, 7);
  for (std::size_t i = 0; i < 33; ++i) EXPECT_EQ(few.data()[i], y.data()[i]);
}

TEST(Dropout, ReplacesDroppedNaNByZero) {
  Context context;
  const Tensor y = dropout(context, filled({1000}, kInfinity), 0.5, 1);
  std::size_t zeros = 0;
  for (const float number : y.data()) zeros += number == 0.0f ? 1u : 0u;
  EXPECT_GT(zeros, 400u);
}

TEST(EmbeddingBackward, MatchesTheReference) {
  Random random(8);
  Context context;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 700}}) {
    for (const std::int64_t rows : {1, 5, 400}) {
      for (const std::int64_t size : {0, 1, 13, 100}) {
        SCOPED_TRACE(testing::Message()
                     << to_string(shape) << " rows " << rows << " size " << size);
        const Tensor ids = random_ids(random, shape, 0, rows - 1);
        std::vector<std::int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
        sizes.push_back(size);
        const Tensor d_y = random.reals(Shape(sizes));
        EXPECT_TRUE(close(embedding_backward(context, d_y, ids, rows),
                          reference::embedding_backward(d_y, ids, rows)));
        EXPECT_TRUE(close(embedding_backward(context, d_y, ids, rows, 0),
                          reference::embedding_backward(d_y, ids, rows, 0)));
      }
    }
  }
  EXPECT_EQ(embedding_backward(context, Tensor(Shape{0, 4}), integers({0}, {}), 0).shape(),
            (Shape{0, 4}));
}

TEST(EmbeddingBackward, AgreesWithFiniteDifferencesInTheReference) {
  Random random(9);
  const Tensor weight = random.reals({4, 3}), ids = integers({5}, {1, 3, 1, 0, 1});
  const Tensor d_y = random.reals({5, 3});
  EXPECT_TRUE(is_gradient(reference::embedding_backward(d_y, ids, 4), weight, d_y,
                          [&](const reference::Array& a) { return reference::embedding(ids, a); }));
}

TEST(Losses, ReturnTheSameBitsForAnyNumberOfThreads) {
  Random random(10);
  const Tensor logits = random.reals({3000, 101}, -5.0f, 5.0f);
  const Tensor targets = random_ids(random, {3000}, 0, 100);
  const Tensor ids = random_ids(random, {3000}, 0, 40);
  expect_same_bits_for_any_threads([&](Context& context) {
    std::vector<Tensor> results;
    CrossEntropyOptions options;
    options.label_smoothing = 0.1f;
    results.push_back(cross_entropy(context, logits, targets, options));
    results.push_back(cross_entropy_backward(context, filled({}, 1.0f), logits, targets, options));
    results.push_back(softmax_backward(context, logits, softmax(context, logits)));
    results.push_back(dropout(context, logits, 0.3, 5));
    results.push_back(embedding_backward(context, logits, ids, 1000, 3));
    results.push_back(embedding(context, ids, logits));
    return results;
  });
}

TEST_F(Refusals, ActivationsRefuseInvalidArguments) {
  const Tensor x = random.reals({2, 8}), flat = random.reals({8});
  const Tensor numbers = integers({2}, {0, 1});
  keep({&x, &flat});
  const auto relu = Activation::kRelu;
  expect_error(kDType, "x", "int32", [&] { activate(context, numbers, relu); });
  expect_error(kDType, "d_output", "int32", [&] { activate_backward(context, numbers, x, relu); });
  expect_error(kShape, "d_output", "[8]", [&] { activate_backward(context, flat, x, relu); });
  expect_error(kShape, "up", "[8]", [&] { swiglu(context, x, flat); });
  expect_error(kShape, "up", "[8]", [&] { swiglu_backward(context, x, x, flat); });
  expect_error(kShape, "d_output", "[8]", [&] { swiglu_backward(context, flat, x, x); });
}

TEST_F(Refusals, LossesRefuseInvalidArguments) {
  const Tensor x = random.reals({2, 8}), flat = random.reals({8}), scalar = random.reals({});
  const Tensor targets = integers({2}, {0, 7}), above = integers({2}, {0, 8});
  const Tensor below = integers({2}, {-1, 0}), three = integers({3}, {0, 1, 2});
  keep({&x, &flat, &scalar});
  expect_error(kDType, "output", "int32", [&] { softmax_backward(context, x, targets); });
  expect_error(kShape, "output", "[]", [&] { softmax_backward(context, scalar, scalar); });
  expect_error(kShape, "d_output", "[8]", [&] { softmax_backward(context, flat, x); });
  expect_error(kDType, "x", "int32", [&] { dropout(context, targets, 0.5, 1); });
  for (const double rate : {-0.5, 1.0, std::abs(std::nan(""))})
    expect_error(kOption, "rate", MessagePart(rate).text(), [&] { dropout(context, x, rate, 1); });
  const auto loss = [&](const Tensor& logits, const Tensor& wanted,
                        const CrossEntropyOptions& options = {}) {
    return [&, options] { cross_entropy(context, logits, wanted, options); };
  };
  expect_error(kOption, "targets", "8", loss(x, above));
  expect_error(kOption, "targets", "-1", loss(x, below));
  expect_error(kOption, "label_smoothing", "1.5", loss(x, targets, {{}, 1.5f, Reduction::kSum}));
  expect_error(kShape, "d_loss", "[2, 8]", [&] { cross_entropy_backward(context, x, x, targets); });
  CrossEntropyOptions each;
  each.reduction = Reduction::kNone;
  expect_error(kShape, "d_loss", "[]",
               [&] { cross_entropy_backward(context, scalar, x, targets, each); });
  expect_error(kOption, "rows", "-1", [&] { embedding_backward(context, x, targets, -1); });
  expect_error(kOption, "ids", "7", [&] { embedding_backward(context, x, targets, 7); });
  expect_error(kOption, "padding_index", "8",
               [&] { embedding_backward(context, x, targets, 8, 8); });
  expect_error(kDType, "ids", "float32", [&] { embedding_backward(context, x, flat, 8); });
  expect_error(kDType, "d_output", "int32",
               [&] { embedding_backward(context, three, targets, 8); });
  expect_error(kShape, "d_output", "[8]", [&] { embedding_backward(context, flat, targets, 8); });
  expect_error(kShape, "d_output", "[2, 8]", [&] { embedding_backward(context, x, three, 8); });
}

}  // namespace
}  // namespace heed::test
