#include "ops/product/product.hpp"

#include <algorithm>

#include "ops/validate.hpp"

namespace heed::ops {
namespace {

using kernels::KernelTable;

/// The number of rows of A that are packed at a time, and the rows and columns of a piece of work.
/// A piece packs its columns of B^T for all its rows, unless they are packed already. 4 panels of B
/// and a slice of A (kernels/product/linear.hpp) fit the second-level cache.
constexpr std::int64_t kRowsAtATime = 2048;
constexpr std::int64_t kRowTile = 512;
constexpr std::int64_t kColumnTile = 32;
/// If A is given transposed, or B is not, their rows are packed as columns: kDepthAtATime rows at a
/// time, kDepthPiece by each piece of work. The product is the sum of the products of these parts
/// of the depth.
constexpr std::int64_t kDepthPiece = 32;
constexpr std::int64_t kDepthAtATime = 1024;
/// If there would be fewer than kPieces pieces, they get fewer rows, but at least kMinRowTile, so
/// that the packed columns of a piece are used often enough.
constexpr std::int64_t kMinRowTile = 48;
constexpr std::int64_t kPieces = 8;
/// With at most this many rows, B^T is read in place: packing it for fewer than 8 rows takes
/// longer.
constexpr std::int64_t kRowsInPlace = 6;
/// Products whose matrices have at most this many numbers, which fit a second-level cache of 512
/// KB, are computed by one thread each.
constexpr std::int64_t kWholeNumbers = 96 * 1024;
/// The minimum number of operations in a piece of work.
constexpr double kPieceOperations = 1e5;

double operations(const Product& p) {
  return 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) *
         static_cast<double>(p.depth);
}

/// The length of about equal pieces: at most `most`, then rounded up to a multiple of `multiple`.
std::int64_t even_step(std::int64_t count, std::int64_t most, std::int64_t multiple) {
  const std::int64_t pieces = count > most ? divide_up(count, most) : 1;
  return std::max<std::int64_t>(1, divide_up(divide_up(count, pieces), multiple)) * multiple;
}

/// The pieces of a product, and the sizes of their scratch memory. With a pool, all threads compute
/// the pieces; without one, the calling thread does.
struct Tiling {
  const Product& p;
  const KernelTable& kernels;
  ThreadPool* pool;
  std::int64_t row_part, row_step, column_step, depth_step;

  Tiling(const Product& product, const KernelTable& table, ThreadPool* threads)
      : p(product), kernels(table), pool(threads) {
    row_part = even_step(p.rows, kRowsAtATime, table.rows);
    column_step = std::max<std::int64_t>(kColumnTile, table.panel);
    const std::int64_t rows = std::min(row_part, p.rows);
    const std::int64_t column_tiles = std::max<std::int64_t>(1, divide_up(p.columns, column_step));
    row_step = even_step(
        rows, std::clamp(divide_up(rows, divide_up(kPieces, column_tiles)), kMinRowTile, kRowTile),
        table.rows);
    const bool has_columns = p.transpose_a || packs_right();
    depth_step = even_step(p.depth, has_columns ? kDepthAtATime : p.depth, 1);
  }

  template <class Task>
  void run(std::int64_t pieces, const Task& task) const {
    if (pool) return pool->run(pieces, operations(p), task);
    for (std::int64_t piece = 0; piece < pieces; ++piece) task(piece, 0);
  }

  std::int64_t threads() const { return pool ? pool->threads() : 1; }
  std::int64_t left_rows() const { return round_up(row_part, kernels.rows); }
  std::int64_t left_size() const { return left_rows() * depth_step; }
  /// Whether B is packed before the tiles.
  bool packs_right() const { return !p.packed && !p.transpose_b; }
  std::int64_t right_size() const {
    return packs_right() ? round_up(p.columns, kernels.panel) * depth_step : 0;
  }
  std::int64_t panels_size() const {
    return p.packed || packs_right() ? 0 : column_step * depth_step;
  }
  std::int64_t sums_size() const { return depth_step < p.depth ? row_step * column_step : 0; }

  /// Calls part(first_row, rows) for the parts of A, which are packed one after the other.
  template <class Part>
  void for_parts(const Part& part) const {
    for (std::int64_t row = 0; row < p.rows; row += row_part)
      part(row, std::min(row_part, p.rows - row));
  }

  /// Calls pack(first, count) for ranges of rows, on all threads.
  template <class Pack>
  void pack_rows(std::int64_t count, const Pack& pack) const {
    const std::int64_t step = left_step();
    run(divide_up(count, step),
        [&](std::int64_t piece, int) { pack(piece * step, std::min(step, count - piece * step)); });
  }
  std::int64_t left_step() const { return round_up(kMinRowTile, kernels.rows); }

  /// Calls tile(row, rows, column, columns, thread) for the tiles of some rows, on all threads.
  template <class Tile>
  void for_tiles(std::int64_t count, const Tile& tile) const {
    const std::int64_t column_tiles = divide_up(p.columns, column_step);
    run(divide_up(count, row_step) * column_tiles, [&](std::int64_t piece, int thread) {
      const std::int64_t row = piece / column_tiles * row_step;
      const std::int64_t column = piece % column_tiles * column_step;
      tile(row, std::min(row_step, count - row), column, std::min(column_step, p.columns - column),
           thread);
    });
  }
};

/// Scratch memory of one product: blocks of A, panels of B, and for each thread panels and sums of
/// a tile. In place with halves: A scaled for them, and the factors of its rows.
struct Scratch {
  float* left;
  float* right = nullptr;
  float* panels = nullptr;
  float* sums;
};

/// Packs rows [first, first + rows) of A, and B unless it is given transposed, both from depth d
/// on.
void pack(const Tiling& tiling, const float* a, const float* b, std::int64_t first,
          std::int64_t rows, std::int64_t d, std::int64_t depth, const Scratch& scratch) {
  const Product& p = tiling.p;
  const std::int64_t left_step = p.transpose_a ? kDepthPiece : tiling.left_step();
  const std::int64_t left_pieces = divide_up(p.transpose_a ? depth : rows, left_step);
  const std::int64_t right_pieces = tiling.packs_right() ? divide_up(depth, kDepthPiece) : 0;
  tiling.run(left_pieces + right_pieces, [&](std::int64_t piece, int) {
    const bool is_right = piece >= left_pieces;
    if (is_right || p.transpose_a) {
      const std::int64_t from = (is_right ? piece - left_pieces : piece) * kDepthPiece;
      const std::int64_t count = std::min(kDepthPiece, depth - from);
      if (is_right)
        tiling.kernels.product.pack_right_columns(
            b + (d + from) * p.columns, static_cast<std::ptrdiff_t>(p.columns), count,
            static_cast<std::ptrdiff_t>(p.columns), static_cast<std::ptrdiff_t>(depth),
            scratch.right + from * tiling.kernels.panel);
      else
        tiling.kernels.product.pack_left_columns(
            a + (d + from) * p.rows + first, static_cast<std::ptrdiff_t>(p.rows), count,
            static_cast<std::ptrdiff_t>(rows), static_cast<std::ptrdiff_t>(depth),
            scratch.left + from * tiling.kernels.rows);
    } else {
      const std::int64_t row = piece * left_step;
      tiling.kernels.product.pack_left(
          a + (first + row) * p.depth + d, static_cast<std::ptrdiff_t>(p.depth),
          std::min(left_step, rows - row), static_cast<std::ptrdiff_t>(depth),
          scratch.left + row * depth);
    }
  });
}

void multiply_in_place(const Tiling& tiling, const Scratch& scratch, const float* a, const float* b,
                       float* c) {
  const Product& p = tiling.p;
  const std::int64_t step = tiling.kernels.panel;
  const auto scale = tiling.kernels.product.scale_for_halves;
  const bool scales = p.halves && scale;
  if (scales) {
    scale(a, p.rows, p.depth, scratch.left, scratch.sums);
    a = scratch.left;
  }
  tiling.run(divide_up(p.columns, step), [&](std::int64_t piece, int) {
    const std::int64_t column = piece * step;
    tiling.kernels.product.linear_in_place({
        .x = a,
        .rows = p.rows,
        .in = p.depth,
        .weight = p.halves ? nullptr : b + column * p.depth,
        .halves = p.halves ? p.halves + column * p.depth : nullptr,
        .steps = scales ? scratch.sums : nullptr,
        .columns = std::min(step, p.columns - column),
        .bias = p.bias ? p.bias + column : nullptr,
        .activation = for_kernel(p.activation),
        .y = c + column,
        .y_stride = static_cast<std::ptrdiff_t>(p.columns),
    });
  });
}

void multiply_packed(const Tiling& tiling, const Scratch& scratch, const float* a, const float* b,
                     float* c) {
  const Product& p = tiling.p;
  tiling.for_parts([&](std::int64_t first, std::int64_t count) {
    // At least once, because sums without terms must be written too.
    for (std::int64_t d = 0; d == 0 || d < p.depth; d += tiling.depth_step) {
      const std::int64_t depth = std::min(tiling.depth_step, p.depth - d);
      pack(tiling, a, b, first, count, d, depth, scratch);
      tiling.for_tiles(count, [&](std::int64_t row, std::int64_t rows, std::int64_t column,
                                  std::int64_t columns, int thread) {
        const float* panels = nullptr;
        if (p.packed) {
          panels = p.packed->floats + column * p.depth;
        } else if (tiling.packs_right()) {
          panels = scratch.right + column * depth;
        } else {
          float* const own_panels = scratch.panels + thread * tiling.panels_size();
          const auto pack_from = [&](const auto& pack_rows, const auto* right) {
            pack_rows(right + column * p.depth + d, static_cast<std::ptrdiff_t>(p.depth), columns,
                      static_cast<std::ptrdiff_t>(depth), own_panels);
          };
          if (p.halves)
            pack_from(tiling.kernels.product.pack_half_rows, p.halves);
          else
            pack_from(tiling.kernels.product.pack_rows, b);
          panels = own_panels;
        }
        float* const to = c + (first + row) * p.columns + column;
        float* const sums = d == 0 ? to : scratch.sums + thread * tiling.sums_size();
        const std::int64_t stride = d == 0 ? p.columns : columns;
        tiling.kernels.product.linear({
            .x = scratch.left + row * depth,
            .rows = rows,
            .in = depth,
            .weight = panels,
            .columns = columns,
            .bias = p.bias ? p.bias + column : nullptr,
            .activation = for_kernel(p.activation),
            .y = sums,
            .y_stride = static_cast<std::ptrdiff_t>(stride),
        });
        if (d > 0) tiling.kernels.arrays.add_block(sums, rows, columns, to, p.columns);
      });
    }
  });
}

/// A product with rounded factors: quantise(a, row, rows) rounds rows of A to scratch memory, and
/// fill(tile, row, column) sets the members of a tile that the formats do not share.
template <class Tile, class Quantise, class Fill>
void multiply_rounded(const Tiling& tiling, void (*kernel)(const Tile&) noexcept,
                      const Quantise& quantise, const Fill& fill) {
  const Product& p = tiling.p;
  tiling.for_parts([&](std::int64_t first, std::int64_t count) {
    tiling.pack_rows(count, [&](std::int64_t row, std::int64_t rows) {
      quantise(p.a + (first + row) * p.depth, row, rows);
    });
    tiling.for_tiles(count, [&](std::int64_t row, std::int64_t rows, std::int64_t column,
                                std::int64_t columns, int) {
      Tile tile{};
      fill(tile, row, column);
      tile.rows = rows;
      tile.in = p.depth;
      tile.columns = columns;
      tile.bias = p.bias ? p.bias + column : nullptr;
      tile.activation = for_kernel(p.activation);
      tile.y = p.c + (first + row) * p.columns + column;
      tile.y_stride = static_cast<std::ptrdiff_t>(p.columns);
      kernel(tile);
    });
  });
}

void multiply_bytes(const Tiling& tiling, Arena::Scope& arena) {
  const auto& kernels = tiling.kernels.product;
  const PackedWeights::Panels& w = *tiling.p.packed;
  const std::int64_t in = tiling.p.depth, depth = kernels::byte_depth(in);
  auto* const left = arena.take<std::int8_t>(tiling.left_rows() * depth);
  auto* const left_rows = arena.take<kernels::ByteRow>(tiling.left_rows());
  multiply_rounded(
      tiling, kernels.byte_linear,
      [&](const float* a, std::int64_t row, std::int64_t rows) {
        kernels.quantise_left(a, rows, in, left + row * depth, left_rows + row);
      },
      [&](kernels::ByteLinearTile& tile, std::int64_t row, std::int64_t column) {
        tile.x = left + row * depth;
        tile.x_rows = left_rows + row;
        tile.weight = w.integers + column * depth;
        tile.scales = w.scales + column;
        tile.sums = w.sums + column;
      });
}

void multiply_nibbles(const Tiling& tiling, Arena::Scope& arena) {
  const auto& kernels = tiling.kernels.product;
  const std::int64_t in = tiling.p.depth, groups = kernels::nibble_groups(in);
  auto* const left = arena.take<std::int8_t>(tiling.left_rows() * groups * kernels.nibble_left);
  auto* const left_rows = arena.take<kernels::NibbleRow>(tiling.left_rows() * groups);
  multiply_rounded(
      tiling, kernels.nibble_linear,
      [&](const float* a, std::int64_t row, std::int64_t rows) {
        kernels.quantise_nibble_left(a, rows, in, left + row * groups * kernels.nibble_left,
                                     left_rows + row * groups);
      },
      [&](kernels::NibbleLinearTile& tile, std::int64_t row, std::int64_t column) {
        tile.x = left + row * groups * kernels.nibble_left;
        tile.x_rows = left_rows + row * groups;
        tile.weight = tiling.p.packed->nibbles + column * groups * kernels::kNibbleColumn;
      });
}

}  // namespace

void multiply(Context::Runtime& runtime, const Product& p) {
  if (p.rows == 0 || p.columns == 0 || p.count == 0) return;
  const KernelTable& kernels = runtime.kernels();
  ThreadPool& pool = runtime.pool();
  Arena::Scope arena(runtime.arena());
  const std::int64_t a_size = p.rows * p.depth, b_size = p.depth * p.columns,
                     c_size = p.rows * p.columns;
  const bool one_per_thread = p.count > 1 && a_size + b_size + c_size <= kWholeNumbers;
  const Tiling tiling(p, kernels, one_per_thread ? nullptr : &pool);
  const auto format = p.packed ? p.packed->format : PackedWeights::Format::kFloat32;
  if (format == PackedWeights::Format::kInt8) return multiply_bytes(tiling, arena);
  if (format == PackedWeights::Format::kInt4) return multiply_nibbles(tiling, arena);
  const bool in_place = p.rows <= kRowsInPlace && !p.packed && !p.transpose_a && p.transpose_b;
  // A team computes a product together and shares scratch memory: one thread, or all of them.
  const std::int64_t teams = one_per_thread ? pool.threads() : 1;
  const std::int64_t left_size = tiling.left_size(), right_size = tiling.right_size(),
                     panels_size = tiling.threads() * tiling.panels_size(),
                     sums_size = tiling.threads() * tiling.sums_size();
  Scratch scratch{};
  if (in_place && p.halves)
    scratch = {.left = arena.take<float>(a_size), .sums = arena.take<float>(p.rows)};
  else if (!in_place)
    scratch = {arena.take<float>(teams * left_size), arena.take<float>(teams * right_size),
               arena.take<float>(teams * panels_size), arena.take<float>(teams * sums_size)};
  const auto one = [&](std::int64_t n, int team) {
    const float* const a = p.a + n * a_size;
    const float* const b = p.one_right ? p.b : p.b + n * b_size;
    float* const c = p.c + n * c_size;
    if (in_place) return multiply_in_place(tiling, scratch, a, b, c);
    multiply_packed(tiling,
                    {scratch.left + team * left_size, scratch.right + team * right_size,
                     scratch.panels + team * panels_size, scratch.sums + team * sums_size},
                    a, b, c);
  };
  if (!one_per_thread) {
    for (std::int64_t n = 0; n < p.count; ++n) one(n, 0);
    return;
  }
  const auto step = static_cast<std::int64_t>(1.0 + kPieceOperations / (1.0 + operations(p)));
  const double all = static_cast<double>(p.count) * operations(p);
  pool.run(divide_up(p.count, step), all, [&](std::int64_t piece, int thread) {
    const std::int64_t end = std::min(p.count, (piece + 1) * step);
    for (std::int64_t n = piece * step; n < end; ++n) one(n, thread);
  });
}

}  // namespace heed::ops
