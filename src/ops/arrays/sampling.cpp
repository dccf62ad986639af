#include "heed/sampling.hpp"

#include <cmath>
#include <limits>

#include "ops/arrays/random.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

std::int64_t row_size(const char* argument, const TensorView& x) {
  ops::require_dtype(argument, x, DType::kFloat32);
  if (x.shape().rank() < 1) ops::refuse<ShapeError>(argument, "rank 1 or more", x.shape());
  const std::int64_t size = x.shape()[-1];
  if (size < 1 || size > std::numeric_limits<std::int32_t>::max())
    ops::refuse<ShapeError>(argument, "a last axis of 1 to 2^31 - 1", x.shape());
  return size;
}

}  // namespace

TopKResult top_k(Context& context, const TensorView& x, std::int64_t k) {
  const std::int64_t size = row_size("x", x);
  if (k < 1 || k > size) ops::refuse<OptionError>("k", {"a number from 1 to ", size}, k);
  const Shape shape = ops::with_last(x.shape(), k);
  TopKResult result{Tensor(shape), Tensor(shape, DType::kInt32)};
  if (x.shape().elements() == 0) return result;
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  std::int32_t* const heap = scratch.take<std::int32_t>(size * runtime.pool().threads());
  const float* const numbers = x.data<float>().data();
  float* const values = result.values.data().data();
  std::int32_t* const indices = result.indices.data<std::int32_t>().data();
  const double operations = 4.0 * static_cast<double>(x.shape().elements());
  runtime.pool().run(x.shape().elements() / size, operations, [&](std::int64_t row, int thread) {
    runtime.kernels().arrays.top_k(numbers + row * size, size, k, heap + thread * size,
                                   values + row * k, indices + row * k);
  });
  return result;
}

Tensor sample(Context& context, const TensorView& logits, const SampleOptions& options) {
  const std::int64_t size = row_size("logits", logits);
  if (!(options.temperature >= 0.0f) || !std::isfinite(options.temperature))
    ops::refuse<OptionError>("temperature", "a finite number from 0 on", options.temperature);
  ops::require_not_negative("top_k", options.top_k);
  if (!(options.top_p > 0.0f && options.top_p <= 1.0f))
    ops::refuse<OptionError>("top_p", "a number above 0 and up to 1", options.top_p);
  const float* const numbers = logits.data<float>().data();
  const std::int64_t rows = logits.shape().elements() / size;
  const kernels::ArrayKernels& arrays = context.runtime().kernels().arrays;
  for (std::int64_t row = 0; row < rows; ++row) {
    const kernels::LogitsCheck check = arrays.check_logits(numbers + row * size, size);
    if (check != kernels::LogitsCheck::kValid)
      ops::refuse<OptionError>(
          "logits", "rows without NaN and with more than -inf",
          (check == kernels::LogitsCheck::kNaN ? "NaN in row " : "nothing but -inf in row ") +
              std::to_string(row));
  }

  Tensor tokens(logits.shape().without_last(), DType::kInt32);
  if (rows == 0) return tokens;
  Arena::Scope scratch(context.runtime().arena());
  auto* const heap = scratch.take<std::int32_t>(size);
  auto* const chosen = scratch.take<std::int32_t>(size);
  std::int32_t* const out = tokens.data<std::int32_t>().data();
  for (std::int64_t row = 0; row < rows; ++row)
    out[row] = arrays.sample({
        .logits = numbers + row * size,
        .size = size,
        .temperature = options.temperature,
        .top_k = options.top_k,
        .top_p = options.top_p,
        .fraction = ops::random_fraction(options.seed, row),
        .heap = heap,
        .chosen = chosen,
    });
  return tokens;
}

}  // namespace heed
