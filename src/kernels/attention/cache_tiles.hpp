#pragma once

// The arguments of the kernels that store a cache, attend to it, and merge the results.

#include <cstddef>
#include <cstdint>

#include "kernels/attention/tiles.hpp"

namespace heed::kernels {

/// How a cache stores its numbers.
enum class NumberFormat { kFloat32, kFloat16, kInt8 };

/// A tile of a cache: a KeyValueTile of depth kKeyTile in floats or halves. In int8 panels two
/// neighbours of the depth are adjacent, keys [ceil(head_size / 2)][panel][2] and values
/// [kKeyTile / 2][panel][2], and a number is its byte times the scale of its key.
struct StoredTile {
  const void* keys;
  const void* values;
  const float* key_scales;    // [kKeyTile]
  const float* value_scales;  // [kKeyTile]
  /// Whether all the values are finite; for halves also the keys.
  bool finite;
};

/// A key or value to be stored in a tile of a cache: number i goes to the index
/// first + i / run * stride + i % run * step.
struct CacheRow {
  NumberFormat format;
  const float* row;
  std::int64_t size;
  void* to;
  std::int64_t first;
  std::int64_t run;
  std::int64_t step;
  std::int64_t stride;
  float* scale;  // of int8
};

/// Panels [panels][depth, even for int8][width] of a tile of a cache in float16 or int8. They are
/// converted to floats [panels][depth][width]. Int8 has a scale for each column or for each step of
/// the depth.
struct CachePanels {
  NumberFormat format;
  const void* from;
  std::int64_t columns;
  std::int64_t width;
  std::int64_t depth;
  const float* column_scales;
  const float* depth_scales;
  float* to;
};

/// The maximum number of rows, queries times heads, of a decode step.
inline constexpr int kDecodeRows = 32;

/// The state (m, l, o) of online_softmax.hpp for some rows, after some of the keys.
struct PartialState {
  float* m;  // [rows]
  float* l;  // [rows]
  float* o;  // [rows, whole panels of value_size], not divided by l
};

/// Consecutive tiles of one key/value head against the few queries of its query heads. Row r of the
/// state belongs to query r / heads and head r % heads.
struct DecodeChunk {
  const float* q;  // [heads, queries, head_size]
  std::ptrdiff_t q_head_stride;
  std::ptrdiff_t q_stride;
  int heads;
  int queries;
  std::int64_t head_size;
  std::int64_t value_size;
  float scale;
  NumberFormat format;
  const StoredTile* tiles;
  int tile_count;
  std::int64_t first_key;  // of the first tile
  VisibleKeys visible;
  float softcap;              // 0 for none
  const float* alibi_slopes;  // [heads] or null
  std::ptrdiff_t alibi_stride;
  PartialState state;
  float* scratch;  // decode_scratch(head_size) floats
};

/// Merges the states of all chunks of one key/value head.
struct DecodeMerge {
  const PartialState* parts;
  std::int64_t part_count;
  int heads;
  int queries;
  std::int64_t value_size;
  VisibleKeys visible;
  const float* sinks;  // [heads] or null
  std::ptrdiff_t sink_stride;
  float* output;  // [heads, queries, value_size]
  std::ptrdiff_t output_head_stride;
  std::ptrdiff_t output_stride;
  float* lse;  // [heads, queries] or null
  std::ptrdiff_t lse_head_stride;
  std::ptrdiff_t lse_stride;
};

/// Two outputs over disjoint keys, to be merged.
struct OutputMerge {
  const float* output_a;  // [rows, value_size]
  const float* lse_a;     // [rows]
  const float* output_b;
  const float* lse_b;
  std::int64_t rows;
  std::int64_t value_size;
  float* output;  // [rows, value_size]
  float* lse;     // [rows]
};

}  // namespace heed::kernels
