#pragma once

// Reflection with Clang: the names of types, members and enumerators as Clang spells them, and
// their counts.

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace heed::border {

/// The template argument in a function's signature, which ends in "[Value = ..]".
constexpr std::string_view template_argument(std::string_view signature) {
  signature.remove_suffix(1);
  signature.remove_prefix(signature.rfind(" = ") + 3);
  return signature;
}

/// "&heed::RopeOptions::heads", "heed::RopeStyle::kHalf"; "(heed::RopeStyle)2" for a value without
/// an enumerator.
template <auto Value>
constexpr std::string_view spelling() {
  return template_argument(__PRETTY_FUNCTION__);
}

/// "heed::KvCache::Options"
template <class T>
constexpr std::string_view spelling_of_type() {
  return template_argument(__PRETTY_FUNCTION__);
}

/// Writes kvHeads for kv_heads, and returns the number of letters.
constexpr std::size_t write_camel_case(std::string_view snake_case, char* name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < snake_case.size(); ++i)
    name[count++] =
        snake_case[i] == '_' ? static_cast<char>(snake_case[++i] & ~0x20) : snake_case[i];
  return count;
}

/// "mergeAttention", with a zero at the end, for the function &heed::merge_attention.
template <auto Function>
constexpr auto camel_case_of() {
  constexpr std::string_view qualified = spelling<Function>();
  constexpr std::string_view name = qualified.substr(qualified.rfind(':') + 1);
  std::array<char, name.size() + 1> text{};
  write_camel_case(name, text.data());
  return text;
}
template <auto Function>
inline constexpr auto kCamelCase = camel_case_of<Function>();

template <class Enumeration, int Known = 0>
constexpr int count_enumerators() {
  if constexpr (spelling<static_cast<Enumeration>(Known)>().starts_with('('))
    return Known;
  else
    return count_enumerators<Enumeration, Known + 1>();
}

/// The number of enumerators, whose values are 0, 1, 2 and so on.
template <class Enumeration>
inline constexpr int kEnumerators = count_enumerators<Enumeration>();

/// Converts to anything.
struct Any {
  template <class T>
  operator T() const;
};

/// Whether a struct can be initialised with this number of values.
template <class Struct, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { Struct{(static_cast<void>(I), Any())...}; };
}

template <class Struct, std::size_t Most = 40>
constexpr std::size_t count_members() {
  if constexpr (takes<Struct>(std::make_index_sequence<Most>()))
    return Most;
  else
    return count_members<Struct, Most - 1>();
}

/// References to the members of a struct, in their order. C++20 has no structured binding for any
/// number of members.
template <class Struct>
constexpr auto members_of(Struct& s) {
  constexpr std::size_t kCount = count_members<Struct>();
  if constexpr (kCount == 2) {
    auto& [a, b] = s;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = s;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = s;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = s;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = s;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = s;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else {
    static_assert(kCount == 30, "a struct with this number of members needs a case of its own");
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, aa, ab, ac,
           ad, ae] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, aa,
                    ab, ac, ad, ae);
  }
}

/// A tuple of references to the members of a struct.
template <class Struct>
using Members = decltype(members_of(std::declval<Struct&>()));

/// A struct that is never constructed: only the addresses of its members are used.
template <class Struct>
union Unconstructed {
  char none;
  Struct value;
  constexpr Unconstructed() : none() {}
  constexpr ~Unconstructed() {}
};
template <class Struct>
inline Unconstructed<Struct> unconstructed;

/// "kv_heads", the name of a struct's member.
template <class Struct, std::size_t Index>
constexpr std::string_view name_of_member() {
  constexpr std::string_view qualified =
      spelling<&std::get<Index>(members_of(unconstructed<Struct>.value))>();
  return qualified.substr(qualified.rfind('.') + 1);
}

}  // namespace heed::border
