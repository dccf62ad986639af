#pragma once

// The instruction sets, their names, and the sizes of their register blocks.
//
// A block has as many sums as there are registers left, because numbers of the left factor are then
// loaded least often; kernels/product/micro_kernel.hpp counts them. On Zen 4, other sizes are no
// faster, because loads are not the bottleneck. Attention of 12 x 512 x 64 takes within 3 % of the
// same time with 8 rows of AVX-512, 4 of AVX2 and 6 of SSE. Zen 4 issues one AVX-512
// multiply-add per cycle, or two of AVX2: both reach 85 GFLOP/s, and linear layers 103.

#include <string_view>
#include <xsimd/xsimd.hpp>

#if defined(__wasm__)
#include "simd/pair.hpp"
#endif

namespace heed::simd {

#if defined(__wasm__)
inline constexpr bool kIsWasm = true;
#else
inline constexpr bool kIsWasm = false;
#endif

template <class... Isas>
struct IsaList {};

/// The size of the register block of a set: rows, and vectors in a row.
template <int Rows>
struct Block {
  static constexpr int kRows = Rows;
  static constexpr int kVectors = 2;
};

/// A set with a Base is that set and dot products of bytes.
template <class Isa>
struct Traits;

#if defined(__wasm__)

using Wasm = xsimd::wasm;
struct WasmDot : Wasm {};

#if defined(__wasm_relaxed_simd__)
template <>
struct Traits<Wasm> : Block<6> {
  static constexpr std::string_view kName = "relaxed";
};
#else
// Without a fused multiply-add each product needs a temporary register: a block of six rows spills.
template <>
struct Traits<Wasm> : Block<4> {
  static constexpr std::string_view kName = "simd";
};
#endif

template <>
struct Traits<WasmDot> : Traits<Wasm> {
  using Base = Wasm;
  // With six rows V8 spills, and products took 1.3 times as long.
  static constexpr int kByteRows = 4;
  static constexpr std::string_view kName = "relaxed+dot";
};

template <>
struct Traits<WasmPair> : Block<6> {
  static constexpr std::string_view kName = "wide";
};

#elif defined(__x86_64__) || defined(_M_X64)

using Sse42 = xsimd::sse4_2;
using Avx2 = xsimd::fma3<xsimd::avx2>;
using Avx512 = xsimd::avx512bw;
using Avx512Vnni = xsimd::avx512vnni<xsimd::avx512bw>;
struct Avx2Vnni : Avx2 {};  // xsimd::avxvnni has no fused multiply-add

template <>
struct Traits<Sse42> : Block<4> {
  static constexpr std::string_view kName = "sse4.2";
};

template <>
struct Traits<Avx2> : Block<6> {
  static constexpr std::string_view kName = "avx2";
};

template <>
struct Traits<Avx512> : Block<12> {
  static constexpr std::string_view kName = "avx512";
};

template <>
struct Traits<Avx512Vnni> : Traits<Avx512> {
  using Base = Avx512;
  static constexpr int kByteRows = 6;
  static constexpr std::string_view kName = "avx512+vnni";
};

template <>
struct Traits<Avx2Vnni> : Traits<Avx2> {
  using Base = Avx2;
  static constexpr int kByteRows = 4;
  static constexpr std::string_view kName = "avx2+vnni";
};

#elif defined(__aarch64__)

using Neon64 = xsimd::neon64;
struct Neon64Dot : Neon64 {};

template <>
struct Traits<Neon64> : Block<8> {
  static constexpr std::string_view kName = "neon64";
};

template <>
struct Traits<Neon64Dot> : Traits<Neon64> {
  using Base = Neon64;
  static constexpr int kByteRows = 6;
  static constexpr std::string_view kName = "neon64+dot";
};

#else
#error "Heed has kernels for x86-64, AArch64 and WebAssembly SIMD."
#endif

/// The sets that CMakeLists.txt compiles kernels for, the fastest first.
using BuiltIsas = IsaList<HEED_BUILT_ISAS>;

/// Whether the machine this runs on has the instruction set.
template <class Isa>
bool is_available() {
#if defined(__wasm__)
  return true;  // a module with unsupported instructions does not compile
#else
  return xsimd::available_architectures().has(Isa{});
#endif
}

#if defined(__wasm_relaxed_simd__)
/// Whether the engine adds four products of bytes without sums of 16 bits between them, which
/// saturate: on x86-64 with VNNI it takes one instruction, and without it five. On AArch64 nothing
/// saturates, and this form takes no more instructions than the other.
template <>
inline bool is_available<WasmDot>() {
  const volatile std::int8_t left = 127, right = -1;  // volatile, because tools compute constants
  const v128_t sum = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(
      wasm_i8x16_splat(left), wasm_i8x16_splat(right), wasm_i32x4_splat(0));
  return wasm_i32x4_extract_lane(sum, 0) != 2 * 32767;
}
#elif defined(__x86_64__) || defined(_M_X64)
template <>
inline bool is_available<Avx2Vnni>() {
  return is_available<Avx2>() && is_available<xsimd::avxvnni>();
}
#elif defined(__aarch64__)
template <>
inline bool is_available<Neon64Dot>() {
#if defined(__linux__)  // xsimd includes <sys/auxv.h>
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__APPLE__)
  return true;  // all of its 64-bit computers
#else
  return false;
#endif
}
#endif

// The one instruction set of a translation unit of kernels; CMakeLists.txt compiles
// kernels/table.cpp, or kernels/byte_table.cpp for a set with a Base, once for each, with its flags
// and its name.
#if defined(HEED_KERNELS_ISA)
using Isa = HEED_KERNELS_ISA;
#endif

}  // namespace heed::simd

// The registers of the sets that xsimd does not support. Batches of the Base would share their
// functions with the kernels of the Base, which are compiled with other flags.
#if defined(HEED_REGISTERS_OF_BASE)
namespace xsimd::types {
XSIMD_DECLARE_SIMD_REGISTER_ALIAS(heed::simd::Isa, heed::simd::Traits<heed::simd::Isa>::Base);
#if defined(__aarch64__)
template <class T>
struct get_bool_simd_register<T, heed::simd::Isa>
    : detail::neon_bool_simd_register<T, heed::simd::Isa> {};
#endif
}  // namespace xsimd::types
#endif
