// Shapes, views and tensors: include/heed/tensor.hpp and include/heed/error.hpp.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

namespace heed::test {
namespace {

TEST(Shape, HasSizesAndElements) {
  const Shape shape{2, 12, 512, 64};
  EXPECT_EQ(shape.rank(), 4);
  EXPECT_EQ(shape.elements(), 2 * 12 * 512 * 64);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[3], 64);
  EXPECT_EQ(shape[-1], 64);
  EXPECT_EQ(shape[-4], 2);
  EXPECT_EQ(to_string(shape), "[2, 12, 512, 64]");
  EXPECT_EQ(std::vector<std::int64_t>(shape.sizes().begin(), shape.sizes().end()),
            (std::vector<std::int64_t>{2, 12, 512, 64}));
}

TEST(Shape, IsAScalarByDefault) {
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(to_string(Shape()), "[]");
}

TEST(Shape, MayHaveSizesOfZero) {
  EXPECT_EQ((Shape{3, 0, 5}).elements(), 0);
  EXPECT_EQ(to_string(Shape{0}), "[0]");
}

TEST(Shape, EqualsAnotherOfTheSameRankAndSizes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 3, 1}));
  EXPECT_FALSE((Shape{}) == (Shape{0}));
  EXPECT_FALSE((Shape{}) == (Shape{1}));
}

TEST(Shape, HasAtMostEightAxes) {
  EXPECT_EQ((Shape{1, 2, 1, 2, 1, 2, 1, 2}).rank(), 8);
  EXPECT_THROW((Shape{1, 2, 1, 2, 1, 2, 1, 2, 1}), ShapeError);
}

TEST(Shape, RefusesNegativeSizes) {
  try {
    const Shape shape{4, -1};
    FAIL() << "accepted " << to_string(shape);
  } catch (const ShapeError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kShape);
    EXPECT_NE(std::string(error.what()).find("-1"), std::string::npos) << error.what();
  }
}

TEST(Shape, RefusesMoreElementsThanCanBeCounted) {
  const std::int64_t large = std::int64_t{1} << 31;
  EXPECT_EQ((Shape{large, large}).elements(), std::int64_t{1} << 62);
  EXPECT_THROW((Shape{large, large, 2}), ShapeError);
  EXPECT_THROW((Shape{large, large, large, large}), ShapeError);
}

TEST(DType, HasANameAndASize) {
  EXPECT_EQ(to_string(DType::kFloat32), "float32");
  EXPECT_EQ(to_string(DType::kInt32), "int32");
  EXPECT_EQ(to_string(DType::kBool), "bool");
  EXPECT_EQ(size_of(DType::kFloat32), 4u);
  EXPECT_EQ(size_of(DType::kInt32), 4u);
  EXPECT_EQ(size_of(DType::kBool), 1u);
}

TEST(TensorView, RefersToMemoryThatItDoesNotOwn) {
  std::array<float, 6> memory = {1, 2, 3, 4, 5, 6};
  const TensorView view(memory.data(), Shape{2, 3});
  EXPECT_EQ(view.dtype(), DType::kFloat32);
  EXPECT_EQ(view.shape(), (Shape{2, 3}));
  EXPECT_EQ(view.data<float>().data(), memory.data());
  EXPECT_EQ(view.data<float>().size(), 6u);
  memory[4] = 50;
  EXPECT_EQ(view.data<float>()[4], 50.0f);
}

TEST(TensorView, RefusesToReadAnotherType) {
  const std::array<std::int32_t, 2> memory = {1, 2};
  const TensorView view(memory.data(), Shape{2});
  EXPECT_EQ(view.dtype(), DType::kInt32);
  EXPECT_EQ(view.data<std::int32_t>()[1], 2);
  EXPECT_THROW(view.data<float>(), DTypeError);
  EXPECT_THROW(view.data<bool>(), DTypeError);
}

TEST(TensorView, AcceptsATypeKnownOnlyAtRunTime) {
  const std::array<bool, 2> memory = {true, false};
  const void* address = memory.data();
  const TensorView view(address, Shape{2}, DType::kBool);
  EXPECT_TRUE(view.data<bool>()[0]);
  EXPECT_FALSE(view.data<bool>()[1]);
}

TEST(TensorView, ReturnsTheBytesOfAnyType) {
  const std::array<std::int32_t, 3> memory = {1, 2, 3};
  const auto bytes = TensorView(memory.data(), Shape{3}).bytes();
  EXPECT_EQ(static_cast<const void*>(bytes.data()), memory.data());
  EXPECT_EQ(bytes.size(), sizeof memory);
  EXPECT_TRUE(TensorView(Tensor()).bytes().empty());
}

TEST(Tensor, OwnsAlignedMemory) {
  for (const std::int64_t size : {1, 3, 17, 1000}) {
    for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kBool}) {
      const Tensor tensor(Shape{size}, dtype);
      EXPECT_EQ(tensor.dtype(), dtype);
      const TensorView view = tensor;
      const void* address =
          dtype == DType::kFloat32 ? static_cast<const void*>(view.data<float>().data())
          : dtype == DType::kInt32 ? static_cast<const void*>(view.data<std::int32_t>().data())
                                   : static_cast<const void*>(view.data<bool>().data());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 64, 0u);
    }
  }
}

TEST(Tensor, IsEmptyByDefault) {
  const Tensor tensor;
  EXPECT_EQ(tensor.shape(), (Shape{0}));
  EXPECT_EQ(tensor.dtype(), DType::kFloat32);
  EXPECT_TRUE(tensor.data().empty());
}

TEST(Tensor, CopiesTheGivenValues) {
  Tensor tensor(Shape{2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(tensor.data()[3], 4.0f);
  tensor.data()[3] = 5.0f;
  EXPECT_EQ(TensorView(tensor).data<float>()[3], 5.0f);
  EXPECT_THROW(tensor.data<std::int32_t>(), DTypeError);
}

TEST(Tensor, RefusesAnotherNumberOfValues) {
  EXPECT_THROW(Tensor(Shape{2, 2}, {1, 2, 3}), ShapeError);
  EXPECT_THROW(Tensor(Shape{2}, {1, 2, 3}), ShapeError);
}

TEST(Tensor, TransfersItsMemoryWhenMoved) {
  Tensor tensor(Shape{2}, {1, 2});
  const float* address = tensor.data().data();
  const Tensor moved = std::move(tensor);
  EXPECT_EQ(moved.data().data(), address);
  EXPECT_EQ(moved.data()[1], 2.0f);
}

TEST(Tensor, CanBeReshaped) {
  Tensor tensor(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const float* address = tensor.data().data();
  EXPECT_THROW(std::move(tensor).reshaped(Shape{2, 2}), ShapeError);
  EXPECT_EQ(tensor.data()[5], 6.0f);
  const Tensor reshaped = std::move(tensor).reshaped(Shape{1, 6});
  EXPECT_EQ(reshaped.shape(), (Shape{1, 6}));
  EXPECT_EQ(reshaped.data().data(), address);
}

TEST(Tensor, ThrowsWhenMemoryRunsOut) {
  try {
    const Tensor tensor(Shape{std::int64_t{1} << 30, std::int64_t{1} << 30});
    FAIL() << "got " << tensor.data().size() << " elements";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kMemory);
    const std::string message = error.what();
    EXPECT_NE(message.find("expected "), std::string::npos) << message;
    EXPECT_NE(message.find(", got "), std::string::npos) << message;
  }
  // 2^62 floats are more bytes than 64 bits can count.
  EXPECT_THROW(Tensor(Shape{std::int64_t{1} << 31, std::int64_t{1} << 31}), MemoryError);
  EXPECT_EQ(Tensor(Shape{3}, {1, 2, 3}).data()[2], 3.0f);
}

TEST(Error, HasACodeForEachKindAndOneMessageForm) {
  const ShapeError shape("q", "rank 3 or 4", "[2, 8]");
  EXPECT_EQ(shape.code(), ErrorCode::kShape);
  EXPECT_STREQ(shape.what(), "q: expected rank 3 or 4, got [2, 8]");
  EXPECT_EQ(DTypeError("q", "float32", "bool").code(), ErrorCode::kDType);
  EXPECT_EQ(OptionError("heads", "at least 1", "0").code(), ErrorCode::kOption);
  EXPECT_EQ(MemoryError("too much").code(), ErrorCode::kMemory);
  EXPECT_THROW(throw MemoryError("too much"), Error);
}

TEST(Tensor, SharesItsMemoryWithAnAlias) {
  Tensor whole(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  std::optional<Tensor> row(whole.alias(Shape{3}, 3));
  EXPECT_EQ(row->shape(), Shape({3}));
  EXPECT_EQ(row->data()[0], 4.0f);
  whole.data()[4] = 50.0f;
  EXPECT_EQ(row->data()[1], 50.0f);
  EXPECT_TRUE(whole.is_shared() && row->is_shared());
  const Tensor flat = row->alias(Shape{1, 1}, 1);
  whole = Tensor();
  row.reset();
  EXPECT_FALSE(flat.is_shared());
  EXPECT_EQ(flat.data()[0], 50.0f);  // the last one keeps the memory
}

TEST(Tensor, RefusesAnAliasBeyondItsEnd) {
  const Tensor whole(Shape{2, 3});
  EXPECT_THROW(whole.alias(Shape{7}), ShapeError);
  EXPECT_THROW(whole.alias(Shape{4}, 3), ShapeError);
  EXPECT_THROW(whole.alias(Shape{0}, 7), ShapeError);
  EXPECT_THROW(whole.alias(Shape{1}, -1), ShapeError);
  EXPECT_EQ(whole.alias(Shape{0}, 6).shape(), Shape({0}));
}

}  // namespace
}  // namespace heed::test
