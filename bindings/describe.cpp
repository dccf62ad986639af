// Prints the declarations of the border for TypeScript: the sizes and enumerations in
// bindings/js/core/constants.ts, or the structs in bindings/js/core/members.ts. The build runs it
// (wasm.cmake).

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "operations.hpp"

namespace {

using namespace heed;
using namespace heed::border;

char in_lower_case(char letter) { return static_cast<char>(letter | 0x20); }

bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }

/// "kv_heads" becomes kvHeads.
std::string camel_case(std::string_view snake_case) {
  std::string name(snake_case.size(), '\0');
  name.resize(write_camel_case(snake_case, name.data()));
  return name;
}

/// "BFloat16" becomes bfloat16, and "RopeStyle" ropeStyle.
std::string with_small_start(std::string_view name) {
  std::string small(name);
  for (std::size_t i = 0; i < small.size() && is_capital(small[i]); ++i)
    small[i] = in_lower_case(small[i]);
  return small;
}

/// "KvCacheOptions" for KvCache::Options.
template <class T>
std::string name_of_type() {
  std::string_view spelling = spelling_of_type<T>();
  for (const std::string_view scope : {"heed::", "border::"})
    if (spelling.starts_with(scope)) spelling.remove_prefix(scope.size());
  std::string name(spelling);
  std::erase(name, ':');
  return name;
}

std::string after_last_colon(std::string_view spelling) {
  return std::string(spelling.substr(spelling.rfind(':') + 1));
}

template <auto Enumerator>
std::string name_of_enumerator() {
  if constexpr (std::is_same_v<decltype(Enumerator), Precision>)
    if (Enumerator == Precision::kInt8Scores) return "int8-scores";
  return with_small_start(after_last_colon(spelling<Enumerator>()).substr(1));
}

/// Calls a function with each index below Count as a constant.
template <std::size_t Count, class Visit>
void for_each_index(const Visit& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(std::integral_constant<std::size_t, I>()), ...);
  }(std::make_index_sequence<Count>());
}

/// Calls a function with the index of each member of a struct as a constant.
template <class Struct, class Visit>
void for_each_member(const Visit& visit) {
  for_each_index<count_members<Struct>()>(visit);
}

/// Whether something is printed for the first time.
bool is_new(const std::string& name) {
  static std::set<std::string> printed;
  return printed.insert(name).second;
}

template <class Enumeration>
std::string name_of_list() {
  return with_small_start(name_of_type<Enumeration>()) + "s";
}

/// "ropeStyles", a list of the enumerators in order, and "RopeStyle", the type of one.
template <class Enumeration>
void print_enumeration() {
  const std::string type = name_of_type<Enumeration>(), list = name_of_list<Enumeration>();
  if (!is_new(type)) return;
  std::printf("export const %s = [", list.c_str());
  for_each_index<kEnumerators<Enumeration>>([](auto index) {
    constexpr auto enumerator = static_cast<Enumeration>(decltype(index)::value);
    std::printf(decltype(index)::value == 0 ? "\"%s\"" : ", \"%s\"",
                name_of_enumerator<enumerator>().c_str());
  });
  std::printf("] as const;\nexport type %s = (typeof %s)[number];\n\n", type.c_str(), list.c_str());
}

template <class T>
inline constexpr bool kIsTensor = std::is_same_v<T, TensorView>;
template <class T>
inline constexpr bool kIsOptionalTensor = std::is_same_v<T, std::optional<TensorView>>;

/// A literal that the border reads as the same number.
template <class T>
std::string literal(T number) {
  char text[32];
  *std::to_chars(text, text + sizeof text - 1, number).ptr = '\0';
  if (static_cast<T>(std::strtod(text, nullptr)) != number) std::abort();
  return text;
}

/// The type of a struct's member in TypeScript.
template <class T>
std::string type_of_member() {
  if constexpr (kIsTensor<T> || kIsOptionalTensor<T>)
    return "Tensor";
  else if constexpr (std::is_pointer_v<T>)
    return "Handle";
  else if constexpr (std::is_same_v<T, bool>)
    return "boolean";
  else if constexpr (std::is_enum_v<T>)
    return "constants." + name_of_type<T>();
  else
    return "number";
}

template <class Struct, std::size_t Index>
using TypeOf = std::remove_cvref_t<std::tuple_element_t<Index, Members<Struct>>>;

/// How TypeScript writes a member of the object o as a number.
template <class Struct, std::size_t Index>
std::string written() {
  using T = TypeOf<Struct, Index>;
  const std::string name = camel_case(name_of_member<Struct, Index>()), given = "o." + name;
  if constexpr (kIsTensor<T>) {
    return "engine.handle(\"" + name + "\", " + given + ")";
  } else if constexpr (kIsOptionalTensor<T>) {
    return "engine.handleOrNone(\"" + name + "\", " + given + ")";
  } else if constexpr (std::is_pointer_v<T>) {
    return given + " ?? 0";
  } else if constexpr (kIsOptionalNumber<T>) {
    return given + " ?? Number.NaN";
  } else {
    Struct defaults;
    const T value = std::get<Index>(members_of(defaults));
    if constexpr (std::is_same_v<T, bool>) {
      return given + " ?? " + (value ? "true" : "false") + " ? 1 : 0";
    } else if constexpr (std::is_enum_v<T>) {
      return given + " === undefined ? " + std::to_string(static_cast<int>(value)) +
             " : constants." + name_of_list<T>() + ".indexOf(" + given + ")";
    } else {
      return given + " ?? " + literal(value);
    }
  }
}

/// "withRopeOptions", a function that adds a struct's members to the arguments of a call.
template <class Struct>
void print_argument() {
  const std::string type = name_of_type<Struct>();
  if (!is_new(type)) return;
  bool has_tensors = false;
  std::printf("export interface %sMembers {\n", type.c_str());
  for_each_member<Struct>([&](auto member) {
    using T = TypeOf<Struct, decltype(member)::value>;
    has_tensors |= kIsTensor<T> || kIsOptionalTensor<T>;
    std::printf(kIsTensor<T> ? "  %s: %s;\n" : "  %s?: %s | undefined;\n",
                camel_case(name_of_member<Struct, decltype(member)::value>()).c_str(),
                type_of_member<T>().c_str());
  });
  std::printf("}\n\nexport function with%s<O extends %sMembers>(\n", type.c_str(), type.c_str());
  if (has_tensors) std::printf("  engine: Engine,\n");
  std::printf("  args: number[],\n  o: Exact<O, %sMembers>,\n): number[] {\n", type.c_str());
  std::printf("  args.push(\n");
  for_each_member<Struct>([](auto member) {
    std::printf("    %s,\n", written<Struct, decltype(member)::value>().c_str());
  });
  std::printf("  );\n  return args;\n}\n\n");
}

/// "readGruResult", a function that reads a struct from the results of a call.
template <class Struct>
void print_result() {
  const std::string type = name_of_type<Struct>();
  if (!is_new(type)) return;
  std::printf("export function read%s(engine: Engine) {\n  return {\n", type.c_str());
  for_each_member<Struct>([](auto member) {
    using T = TypeOf<Struct, decltype(member)::value>;
    static_assert(std::is_same_v<T, Tensor> || std::is_same_v<T, std::optional<Tensor>>);
    std::printf("    %s: engine.%s(),\n",
                camel_case(name_of_member<Struct, decltype(member)::value>()).c_str(),
                std::is_same_v<T, Tensor> ? "tensor" : "optional");
  });
  std::printf("  };\n}\n\n");
}

template <class T>
inline constexpr bool kIsStruct = std::is_class_v<T> && std::is_aggregate_v<T>;

/// Prints the enumerations of an operation's parameters, and of the structs among them.
template <class T>
void print_enumerations() {
  if constexpr (std::is_enum_v<T>)
    print_enumeration<T>();
  else if constexpr (kIsStruct<T>)
    for_each_member<T>([](auto member) {
      using Member = TypeOf<T, decltype(member)::value>;
      if constexpr (std::is_enum_v<Member>) print_enumeration<Member>();
    });
}

template <class T>
void print_struct() {
  if constexpr (kIsStruct<T>) print_argument<T>();
}

template <class Function>
struct Signature;
template <class Result, class... Parameters>
struct Signature<Result (*)(Context&, Parameters...)> {
  static void print_enumerations() { (::print_enumerations<Argument<Parameters>>(), ...); }
  static void print_structs() {
    (print_struct<Argument<Parameters>>(), ...);
    if constexpr (kIsStruct<Result>) print_result<Result>();
  }
};

void print_constant(const char* name, long long value) {
  std::printf("export const %s = %lld;\n", name, value);
}

void print_constants() {
  std::printf("// Sizes and enumerations of C++, printed by bindings/describe.cpp.\n\n");
  print_constant("numberCount", Engine::kNumbers);
  print_constant("messageSize", Engine::kMessage);
  print_constant("mostAxes", Shape::kMaxRank);
  print_constant("blockQueries", BlockMask::kQueries);
  print_constant("blockKeys", BlockMask::kKeys);
  print_constant("emptyBlock", BlockMask::kEmpty);
  print_constant("fullBlock", BlockMask::kFull);
  std::printf("\n");
  print_enumeration<StatusCode>();
  print_enumeration<ErrorCode>();
  for_each_operation([]<auto Function>(Operation<Function>) {
    Signature<decltype(+Function)>::print_enumerations();
  });
}

void print_members() {
  std::printf(
      "// Structs of C++ as numbers, printed by bindings/describe.cpp.\n\n"
      "import type { Exact } from \"./arguments.js\";\n"
      "import * as constants from \"./constants.js\";\n"
      "import type { Engine } from \"./engine.js\";\n"
      "import type { Handle } from \"./module.js\";\n"
      "import type { Tensor } from \"./tensor.js\";\n\n");
  for_each_operation(
      []<auto Function>(Operation<Function>) { Signature<decltype(+Function)>::print_structs(); });
}

}  // namespace

/// The argument names one of the two files.
int main(int, char** arguments) {
  std::string_view(arguments[1]) == "constants" ? print_constants() : print_members();
}
