#pragma once

// Calls across the border: numbers in memory are converted to arguments by the types of a
// function's parameters, and its results to numbers.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "heed/heed.hpp"
#include "reflection.hpp"

namespace heed::border {

/// The address of an object, by which JavaScript names it; 0 is none.
using Handle = std::uintptr_t;

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <class T>
inline constexpr bool kIsOptionalNumber = false;
template <class T>
inline constexpr bool kIsOptionalNumber<std::optional<T>> = std::is_arithmetic_v<T>;

/// Reads the arguments in order. Numbers are doubles, which can represent every address and every
/// integer up to 2^53.
class Reader {
 public:
  explicit Reader(std::span<const double> numbers)
      : begin_(numbers.data()), next_(begin_), end_(begin_ + numbers.size()) {}

  template <class T>
  T read() {
    if constexpr (std::is_reference_v<T>) {
      return *reinterpret_cast<std::remove_reference_t<T>*>(handle());
    } else if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(handle());
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(whole(number(), 0, kEnumerators<T>));
    } else if constexpr (std::is_arithmetic_v<T>) {
      return converted<T>(number());
    } else if constexpr (kIsOptionalNumber<T>) {
      const double given = number();
      return std::isnan(given) ? T() : T(converted<typename T::value_type>(given));
    } else if constexpr (std::is_same_v<T, TensorView>) {
      return read<const Tensor&>();
    } else if constexpr (std::is_same_v<T, std::optional<TensorView>>) {
      const auto* const given = read<const Tensor*>();
      return given ? T(*given) : T();
    } else if constexpr (std::is_same_v<T, Shape>) {
      return Shape(read<std::vector<std::int64_t>>());
    } else if constexpr (kIsVector<T>) {
      T list;
      for (auto count = read<std::size_t>(); count > 0; --count)
        list.push_back(read<typename T::value_type>());
      return list;
    } else {
      T options;
      if (is_at_end()) return options;  // missing options have their defaults
      std::apply([&](auto&... members) { (read_into(members), ...); }, members_of(options));
      return options;
    }
  }

  bool is_at_end() const { return next_ == end_; }

  [[noreturn, gnu::noinline]] static void refuse_count(const char* why) {
    throw std::logic_error(why);
  }

 private:
  double number() {
    if (is_at_end()) [[unlikely]]
      refuse_count("border: expected more arguments");
    return *next_++;
  }
  Handle handle() { return converted<Handle>(number()); }

  /// The number as a T. Converting a number outside the range of an integer type is undefined
  /// behaviour; outside the range of float it gives infinity.
  template <class T>
  T converted(double given) const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      return given != 0;
    } else if constexpr (std::is_integral_v<T>) {
      // Both are exact, because they are powers of 2 or 0.
      constexpr double kEnd = 2.0 * static_cast<double>(Limits::max() / 2 + 1);
      return static_cast<T>(whole(given, Limits::min(), kEnd));
    } else {
      return static_cast<T>(given);
    }
  }

  /// The number, if it is whole and from `least` to below `end`. TypeScript checks options and
  /// names them, so this refuses only numbers that passed those checks. One function for all types,
  /// because the message increases the code size.
  [[gnu::noinline]] double whole(double given, double least, double end) const {
    if (given >= least && given < end && given == std::floor(given)) return given;
    const auto place = static_cast<std::size_t>(next_ - begin_);
    throw OptionError(
        "argument " + std::to_string(place),
        "a whole number from " + MessagePart(least).text() + " to " + MessagePart(end - 1).text(),
        given);
  }

  template <class Member>
  void read_into(Member& member) {
    member = read<Member>();
  }

  const double* begin_;
  const double* next_;
  const double* end_;
};

/// The tensors that JavaScript holds, and the memory of their elements; shared memory is counted
/// once.
struct HeldTensors {
  std::size_t count = 0;
  std::size_t bytes = 0;
};

/// A module has one engine, and tensors cross the border on its thread only. Not a member of
/// Engine, because another argument makes the call that deletes a tensor measurably slower.
inline HeldTensors held_tensors;

/// The maximum number of tensors and numbers of a written result.
struct ResultSize {
  std::size_t tensors;
  std::size_t numbers;
};
template <class Result>
constexpr ResultSize size_of_result() {
  if constexpr (std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::optional<Tensor>>) {
    return {1, 4 + Shape::kMaxRank};
  } else if constexpr (std::is_class_v<Result>) {
    return []<class... Types>(std::type_identity<std::tuple<Types&...>>) {
      return ResultSize{(size_of_result<Types>().tensors + ...),
                        (size_of_result<Types>().numbers + ...)};
    }(std::type_identity<Members<Result>>());
  } else {
    return {0, 1};
  }
}

/// Writes results: for a tensor its address, the address of its elements, type, rank and sizes; 0
/// for one that was not requested. JavaScript owns the written tensors after `finish`.
class Writer {
 public:
  static constexpr std::size_t kMostTensors = size_of_result<AttentionResult>().tensors;

  explicit Writer(std::span<double> numbers) : numbers_(numbers) {}

  template <class T>
    requires std::is_arithmetic_v<T>
  void write(T number) {
    numbers_[next_++] = static_cast<double>(number);
  }
  template <class T>
  void write(T* object) {
    write(static_cast<double>(reinterpret_cast<Handle>(object)));
  }
  void write(Tensor& result) {
    const auto& tensor = tensors_[count_++] = std::make_unique<Tensor>(std::move(result));
    write(tensor.get());
    write(TensorView(*tensor).bytes().data());
    write(static_cast<double>(tensor->dtype()));
    write(static_cast<double>(tensor->shape().rank()));
    for (const std::int64_t size : tensor->shape().sizes()) write(static_cast<double>(size));
  }
  void write(std::optional<Tensor>& result) { result ? write(*result) : write(0.0); }
  template <class Result>
    requires std::is_class_v<Result>
  void write(Result& result) {
    std::apply([&](auto&... members) { (write(members), ...); }, members_of(result));
  }

  void finish() {
    held_tensors.count += count_;
    for (auto& tensor : std::span(tensors_).first(count_)) {
      held_tensors.bytes += tensor->owned_bytes();
      static_cast<void>(tensor.release());
    }
  }

 private:
  std::span<double> numbers_;
  std::size_t next_ = 0;
  std::array<std::unique_ptr<Tensor>, kMostTensors> tensors_;
  std::size_t count_ = 0;
};

/// A context, once it has been created, and the memory of its calls.
struct Engine {
  static constexpr std::size_t kNumbers = 4096;
  static constexpr std::size_t kMessage = 1024;

  std::optional<Context> context;
  /// The arguments of the running call, then its results.
  std::array<double, kNumbers> numbers;
  /// Why a call failed. Allocated beforehand, because memory may have run out.
  std::array<char, kMessage> message;
};

/// The type of a parameter's argument: a value, a reference to an object that the function may
/// change, or the array behind a span.
template <class T>
struct ArgumentOf {
  using Type = std::conditional_t<std::is_lvalue_reference_v<T> &&
                                      !std::is_const_v<std::remove_reference_t<T>>,
                                  T, std::remove_cvref_t<T>>;
};
template <class T>
struct ArgumentOf<std::span<T>> {
  using Type = std::vector<std::remove_const_t<T>>;
};
template <class T>
using Argument = typename ArgumentOf<T>::Type;

/// Calls a function when constructed with braces: only a braced list is evaluated from left to
/// right, the order in which arguments must be read.
struct Call {
  template <class Function, class... Arguments>
  explicit Call(const Function& function, Arguments&&... arguments) {
    function(arguments...);
  }
};

template <class Result, class... Parameters>
void run(Engine& engine, std::size_t count, Result (*function)(Context&, Parameters...)) {
  Reader reader(
      std::span<const double>(engine.numbers).first(std::min(count, engine.numbers.size())));
  const auto finish = [&](auto&... arguments) {
    if (!reader.is_at_end()) Reader::refuse_count("border: expected fewer arguments");
    if constexpr (std::is_void_v<Result>) {
      function(*engine.context, arguments...);
    } else {
      static_assert(size_of_result<Result>().tensors <= Writer::kMostTensors &&
                    size_of_result<Result>().numbers <= Engine::kNumbers);
      Result result = function(*engine.context, arguments...);
      Writer writer(engine.numbers);
      writer.write(result);
      writer.finish();
    }
  };
  Call{finish, reader.read<Argument<Parameters>>()...};
}

/// The result of a call. After kDone the numbers are the results, otherwise the message is the
/// reason. The codes of heed's own errors follow these values.
enum class StatusCode : int { kDone, kInternal, kMemory, kStopped };

/// Runs a call and catches all exceptions, because JavaScript could not free them. One function for
/// all calls, because handlers increase the code size.
[[gnu::noinline]] inline int guarded(Engine& engine, std::size_t count,
                                     void (*call)(Engine&, std::size_t)) noexcept {
  const auto failed = [&](StatusCode status, std::string_view why) {
    const std::size_t size = std::min(why.size(), engine.message.size() - 1);
    *std::copy_n(why.data(), size, engine.message.data()) = '\0';
    return static_cast<int>(status);
  };
  try {
    call(engine, count);
    return static_cast<int>(StatusCode::kDone);
  } catch (const Error& error) {
    return failed(StatusCode{kEnumerators<StatusCode> + static_cast<int>(error.code())},
                  error.what());
  } catch (const std::bad_alloc&) {
    return failed(StatusCode::kMemory, "memory: expected more bytes, got none");
  } catch (const StoppedError& error) {
    return failed(StatusCode::kStopped, error.what());
  } catch (const std::exception& error) {
    return failed(StatusCode::kInternal, error.what());
  } catch (...) {
    return failed(StatusCode::kInternal, "an exception of an unknown type");
  }
}

}  // namespace heed::border
