#pragma once

// Reflection with Clang: the names of types, members and enumerators as Clang spells them, and
// their counts.

#include <cstddef>
#include <string_view>
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
template <class Struct, std::size_t Count>
inline constexpr bool kTakes = takes<Struct>(std::make_index_sequence<Count>());

}  // namespace heed::border
