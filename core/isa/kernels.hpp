// The row kernels as a table of functions: one table per instruction set, chosen at run time.
// Plain pointers only: files compiled for an instruction set must share no inline code with others.
#pragma once

#include <cstdint>

#include "hashing.hpp"

namespace softmodes {

constexpr int kTileRows = 256;      // rows that are transposed and compared together
constexpr int kMostTileRows = 512;  // if compared by bit planes
constexpr int kSpareColumns = 32;   // at the end of a tile, to be written but not read
constexpr int kGroup = 128;         // centers whose distances to a tile are kept at once
constexpr int kQuad = 4;            // centers compared in one sweep over the columns of a tile

// ------------------------------------------------------- centers made ready, by way of comparing

// By rows: few centers and binary features only, compared along the packed rows.
struct RowView {
  int64_t n_centers;
  int64_t stride;              // bytes of a packed row
  const uint8_t* center_rows;  // the packed centers
  const int32_t* clusters;     // their numbers, ascending, for ties
};

// How a segment is compared with a center.
enum class SegmentKind : uint8_t {
  lookup,    // column of nibbles; per center a table of 16 mismatch counts
  popcount,  // column of 8 binary features; per center one byte
  compare1,  // features of 1, 2 or 3 byte columns; per center the bytes and the value of a match
  compare2,
  compare3,
};

// Consecutive tile columns whose mismatches (or matches) fit together in 8 bits.
struct Segment {
  SegmentKind kind;
  uint8_t shift;         // the 8-bit sum counts 2^shift-fold: digits of feature weights
  int32_t first_column;  // tile column
  int32_t n_steps;       // columns, or features of a compare segment
  int64_t table;         // where in the tables of a quad
};

// A byte feature with a code that is at distance 0 from every center.
struct IgnoredBytes {
  int32_t first_column;
  int32_t n_bytes;
  uint32_t code;
  uint32_t weight;
};

// By tiles: rows transposed into columns of bytes and nibbles, compared segment by segment.
struct TileView {
  int64_t n_centers;
  int64_t stride;
  int64_t bit_columns;     // leading bytes of a row that become one tile column each
  int64_t nibble_columns;  // tile columns of nibbles that follow
  int64_t byte_columns;    // tile columns of whole bytes at the end
  int distance_bytes;      // 1, 2 or 4: type of the distances
  uint32_t base;           // distance before any mismatch is added and any match subtracted
  const Segment* segments;
  int64_t n_segments;
  const uint8_t* tables;  // per quad of centers, quad_bytes each
  int64_t quad_bytes;
  const int32_t* clusters;
  const IgnoredBytes* ignored;
  int64_t n_ignored;
};

// Three binary features, by their bits in a packed row; -1: none, always 0.
struct Triple {
  int32_t bit[3];
};
constexpr int kTriplePlanes = 10;

// A feature of a few bits, one plane for each code and then one for "matches nothing"; or of whole
// bytes, one plane for each value that centers have.
struct Field {
  int32_t first_bit;  // in a packed row
  int32_t n_bits;
  int32_t ignored;  // code at distance 0 from every center, or -1
  int32_t n_planes;
  int64_t first_value;  // of whole bytes: where the values are; -1 matches nothing
};

constexpr int kNibbleValues = 16;  // planes that may be written beyond those of a set
constexpr int kPlaneGroup = 512;   // centers whose distances are kept between sets
constexpr int kDistanceBits[] = {7, 8, 10, 12, 16};  // for which there is a kernel
constexpr int kMostDistanceBits = 16;
constexpr int kMostLabelBits = 16;

// Features whose planes stay in the first-level cache while all centers pass.
struct PlaneSet {
  int64_t first_triple, n_triples;
  int64_t first_field, n_fields;
  int64_t n_ones;           // a center's planes that count once; those of triples count twice
  const uint16_t* addends;  // per center: where those planes are, in units of 8 bytes
  int64_t n_addends() const { return n_ones + n_triples; }
};

// By planes: a plane is one bit of each row of a tile, and a center is a list of planes to add up.
struct PlaneView {
  int64_t n_centers;
  int64_t stride;
  int64_t feature_bytes;  // of a packed row
  int distance_bits;      // one of kDistanceBits
  const Triple* triples;
  const Field* fields;
  const int32_t* values;
  const PlaneSet* sets;
  int64_t n_sets;
  const int32_t* clusters;
};

// By scores: columns are the bytes of a packed row, or their nibbles, and then the bytes of byte
// features. A line is what one value of a column costs in every cluster, and a row's totals are the
// sum of its lines.
struct LineShape {
  int64_t stride;
  int64_t narrow_bytes;  // leading bytes of a row, of bits and nibbles
  int64_t byte_columns;  // bytes after these, of one byte feature each
  bool nibbles;          // a narrow byte is two columns of 16 values; else one of 256
  int64_t narrow_values() const { return nibbles ? 32 : 256; }
  int64_t n_columns() const { return narrow_bytes * (nibbles ? 2 : 1) + byte_columns; }
  int64_t n_lines() const { return narrow_bytes * narrow_values() + byte_columns * 256; }
};

// Columns that are added up together: sums of 16 bits hold them.
struct LineRun {
  int32_t narrow_end, byte_end;
};

// A feature of several bytes. Its cell lowers the totals of some clusters, by their bonus; one that
// is no value raises them by what those of values have more.
struct WideColumn {
  int64_t byte;
  int32_t n_bytes;
  int32_t n_values;
  const int64_t* indptr;  // by value
  const int32_t* clusters;
  const uint32_t* bonus;
  const uint32_t* lines;  // n_values x lanes: what values cost; null: only bonuses are there
  const uint32_t* other;  // by cluster: the price of what is no value
};

struct ScoreView {
  int64_t n_centers;
  LineShape shape;
  bool whole;        // lines of 32 bits, all columns in one run; else of 16
  int64_t group;     // clusters that are summed at once: the lanes of a line
  int64_t n_groups;  // groups x lines x lanes
  const uint8_t* lines;
  int64_t group_bytes;  // of the lines of a group
  const LineRun* runs;
  int64_t n_runs;
  const uint32_t* start;  // by lane of all groups; those that are no clusters are dear
  const WideColumn* wide;
  int64_t n_wide;
  bool by_column;  // wide columns are added one after the other, for all rows; then in one group
  const int32_t* clusters;
  int64_t lanes() const { return group * n_groups; }
};

// By sixteens: for up to kFewLanes clusters, by nibbles only. A mark is a code of a feature other
// than 0.
struct CodeMark {
  int64_t line;        // all its codes but this one are 0
  int64_t first_line;  // of the same column: all its codes are 0
  uint8_t holds[16];   // by value of the nibble: 1 if it holds the code, else 0
};

struct SixteenView {
  int64_t tile_rows;          // a multiple of 64, kMostSixteenRows at most
  int64_t n_bytes;            // of a row
  const int32_t* start;       // of clusters from the second on, above the first
  const int32_t* prices;      // the same: byte x cluster x nibble x 16 values
  const CodeMark* marks;      // by nibble of a row
  const int64_t* first_mark;  // of each nibble, and the end
};
constexpr int kRowBits = 7;  // of sums of rows, 4 of every 64
constexpr int64_t kMostSixteenRows = 31 * 64;
constexpr int64_t kMostPartBytes = 8;  // of a row

// By coarse levels: for many clusters and columns of nibbles only. A line is unit * level + error.
struct CoarseView {
  TileView tiles;         // levels of lines above `line_least`, to be looked up
  const uint16_t* start;  // by center: lower bound of what is lost by levels, from the lowest on
  int64_t n_bytes;        // of a row
  int64_t unit;
  int64_t slack;                // what a total may exceed its lower bound by
  int64_t lowest;               // start, in levels
  int64_t most_candidates;      // of a row; with more, all totals are summed
  const uint16_t* exact;        // center x line
  const uint32_t* exact_start;  // by center
  const uint16_t* line_least;   // by line: over all centers
};

// By fine levels: the same with columns of up to 5 bits, and levels of 16 bits that are added with
// saturation. The bits of a column begin in a byte of a row; what follows them means nothing.
struct FineColumn {
  int32_t byte, shift;
};
struct FineView {
  TileView bytes;  // the bytes of rows as columns
  const FineColumn* columns;
  int64_t n_columns;
  const uint16_t* tables;  // by quad of centers, column, center: 32 levels
  const uint16_t* start;   // as above; the last quad is filled up with what is never near
  int64_t unit;
  int64_t slack;                // below 2^16
  int64_t lowest;               // start, in levels
  int64_t most_hits;            // of a tile; with more, all totals are summed
  const uint16_t* exact_start;  // by center; exact totals are summed modulo 2^16
  const uint16_t* bits;         // center x n_words x 32: what a bit of a row adds
  int64_t n_words;
  const uint16_t* lines;  // or center x line
};

constexpr int kListedCenters = 16;  // whose hits are listed before they are found to be too many

// A cluster that comes into question for a row, by levels.
struct Hit {
  int32_t center;
  uint16_t row, level;
};

// A cluster that comes into question for a row, and its exact total.
struct Candidate {
  int32_t center;
  uint32_t total;
};

// 2^-x and log2 by tables. A price of `limit` more, kPowerBits, is no part of a row any more.
struct Powers {
  int resolution;
  uint32_t limit;
  const uint32_t* power;  // 2^(31 - i / 2^resolution)
  const uint64_t*
      log;  // 2^30 log2(1 + i / 1024), i = 0 .. 1023, and above that how far to the next
};
constexpr int kFewLanes = 4;  // so many clusters take a line of their own kind
constexpr int kPowerBits = 20;
constexpr int kPartBits = 16;  // parts of a row sum to 2^kPartBits
constexpr int kLogBits = 20;   // logarithms are in units of 2^-kLogBits

// -------------------------------------------------------------------- what kernels take and give

// Packed rows that are compared together.
struct TileRows {
  const uint8_t* bytes;
  int64_t n;
};

struct Ties {
  bool by_hash;  // else to the lowest cluster
  uint64_t key;
  RowHash hash;
};

// The nearest center of each row, and its distance.
struct Nearest {
  uint32_t* distance;
  int32_t* label;
};

// How rows are shared among clusters. Parts of a row are listed one after the other; lists have
// room for kSharedAtOnce more.
constexpr int64_t kSharedAtOnce = 8;
struct Shares {
  uint32_t* least;  // by row: its lowest total
  uint32_t* log;    // by row: log2 of the sum of 2^(least - total), in units of 2^-kLogBits
  int32_t* n;       // by row: clusters that have a part of it
  int32_t* cluster;
  uint32_t* part;
};

// A row of a cluster, and its part.
struct RowPart {
  int32_t row;
  uint32_t part;
};

// Sums over shared rows, added to.
struct QuadSums {
  int64_t* cluster_sizes;
  uint64_t* least;
  uint64_t* log;
};

// A center that is nearer to a row than another one was.
struct Found {
  int32_t center;
  int32_t row;
  uint32_t distance;
};

// Working memory of one thread.
struct Scratch {
  uint8_t* rows;       // packed rows, for a tile that is not full
  uint8_t* tile;       // transposed columns, and kSpareColumns; or the planes of the rows' bits
  uint8_t* distances;  // of a group of centers to a tile
  uint8_t* planes;     // those of a set; by levels: the lines of rows
  uint8_t* offers;     // by planes: two planes per center; by levels: candidates
  uint8_t* groups;     // by levels: the two least of each group of centers
  uint8_t* notes;      // what a plan keeps from tile to tile
};

// A feature of one byte whose codes are counted one by one.
struct ByteColumn {
  int32_t byte;  // of a packed row
  int32_t n_codes;
};

// Which bytes of a packed row are counted, and how. A piece is 16 bytes.
struct CountShape {
  int64_t stride;
  int64_t plain_pieces;  // leading pieces whose bits are counted
  int64_t mixed_begin;   // bytes of nibbles whose 16 values are counted
  int64_t mixed_pieces;
  int64_t few_begin;  // bytes of features of up to kFewCodes codes, which are counted
  int64_t few_pieces;
  const ByteColumn* bytes;  // features of more codes
  int64_t n_bytes;
};
// Counters of one cluster: plain_pieces x 128 bits, mixed_pieces x 512 (see one_hot), few_pieces x
// 512 (see one_hot_bytes), and for each of bytes its n_codes.
constexpr int kFewCodes = 32;

// ----------------------------------------------------------------------------------- the table

struct Kernels {
  const char* name;
  bool popcount;    // bits are compared by popcount, not by look-up
  int few_centers;  // up to here binary rows of long_row bytes are compared by rows
  int long_row;
  int few_clusters;   // see list_by_cluster
  int plane_centers;  // from here rows are compared by planes
  int plane_rows;     // of a plane
  int vector_bytes;
  int number_lanes;  // lines of 32 bits have a multiple of so many lanes, or kFewLanes
  bool has_quads;
  bool has_sixteens;
  bool has_fine;
  bool has_bit_parts;

  // The nearest centers of up to kTileRows rows (by planes: plane_rows). By tiles, one call for
  // every kGroup centers, first = 0, kGroup, ...: the last one completes the result.
  void (*nearest_by_rows)(const RowView&, const TileRows&, const Ties&, const Scratch&, Nearest);
  void (*nearest_by_tiles)(const TileView&, const TileRows&, int64_t first, const Ties&,
                           const Scratch&, Nearest);
  void (*nearest_by_planes)(const PlaneView&, const TileRows&, const Ties&, const Scratch&,
                            Nearest);
  // By scores, one call for every group: the last one completes the result.
  void (*nearest_by_scores)(const ScoreView&, const TileRows&, int64_t group, const Ties&,
                            const Scratch&, Nearest);
  // All totals of some rows: totals[row * lanes + cluster].
  void (*score_totals)(const ScoreView&, const TileRows&, uint32_t* totals);
  // Shares rows of which all totals are known. Returns how many parts there are.
  int64_t (*share)(const ScoreView&, const Powers&, const TileRows&, const Ties&,
                   const uint32_t* totals, const Shares& out);
  // The same, but totals become parts, 0 where a cluster has none; of `out` only `least` and `log`
  // are told.
  void (*share_in_place)(const ScoreView&, const Powers&, const TileRows&, const Ties&,
                         uint32_t* totals, const Shares& out);
  // Adds parts[i * step + cluster] to the lines of row i, for n rows: sums[line * lanes + cluster].
  void (*add_parts)(const LineShape&, int64_t lanes, const uint8_t* rows, int64_t n,
                    const uint32_t* parts, int64_t step, uint32_t* sums);
  // The same for one line[i] of row i; null: for line 0.
  void (*add_to_lines)(const int32_t* line, int64_t lanes, int64_t n, const uint32_t* parts,
                       int64_t step, uint32_t* sums);
  // If has_bit_parts, adds parts of rows to the sums of their set bits, n_bits of a row.
  void (*add_bit_parts)(const uint8_t* rows, int64_t stride, int64_t n_bits, const RowPart* parts,
                        int64_t n, uint32_t* sums);
  // The same by coarse levels, for up to kTileRows rows: `least` is only told of rows with several
  // parts. Returns how many rows had to be looked at again.
  int64_t (*nearest_by_coarse)(const ScoreView&, const CoarseView&, const TileRows&, const Ties&,
                               const Scratch&, Nearest);
  int64_t (*share_by_coarse)(const ScoreView&, const CoarseView&, const Powers&, const TileRows&,
                             const Ties&, const Scratch&, const Shares&);
  // If has_fine, the same by fine levels. False if too many clusters come into question: nothing is
  // told then.
  bool (*nearest_by_fine)(const ScoreView&, const FineView&, const TileRows&, const Ties&,
                          const Scratch&, Nearest);
  bool (*share_by_fine)(const ScoreView&, const FineView&, const Powers&, const TileRows&,
                        const Ties&, const Scratch&, const Shares&);
  // If has_quads, all of that at once for up to kFewLanes clusters and a multiple of 4 rows,
  // kTileRows at most. For resolutions from 0 on, without wide columns.
  void (*soft_by_quads)(const ScoreView&, const Powers&, const TileRows&, const Ties&,
                        uint32_t* sums, const QuadSums&);
  // The same if has_sixteens, for as many rows as sums hold. `scratch` has room for the columns and
  // the parts of a tile. Lines are modulo 2^32: only all lines with a code together are its sum.
  void (*soft_by_sixteens)(const ScoreView&, const SixteenView&, const Powers&, const TileRows&,
                           const Ties&, uint8_t* scratch, uint32_t* sums, const QuadSums&);
  // Distances of up to kTileRows rows to centers first .. first + n: out[center * kTileRows + row].
  // By rows to all centers; by tiles as above, one call for every kGroup centers.
  void (*distances_by_rows)(const RowView&, const TileRows&, const Scratch&, uint32_t* out);
  void (*distances_by_tiles)(const TileView&, const TileRows&, int64_t first, int64_t n,
                             const Scratch&, uint32_t* out);
  // What is nearer to up to plane_rows rows than `current`, by center and row. Returns how many;
  // found has room for all.
  int64_t (*nearer_by_planes)(const PlaneView&, const TileRows&, const uint32_t* current,
                              const Scratch&, Found* found);
  // Copies n distances to `out` and returns the sum of the lower of each and `current`, times the
  // row's weight unless that is null.
  int64_t (*lower16)(const uint32_t* distances, const uint16_t* current, const int64_t* weight,
                     int64_t n, uint16_t* out);
  int64_t (*lower32)(const uint32_t* distances, const uint32_t* current, const int64_t* weight,
                     int64_t n, uint32_t* out);
  // Adds rows[order[i] * stride] to the counters of one cluster.
  void (*count)(const CountShape&, const uint8_t* rows, const int32_t* order, int64_t n,
                uint32_t* counters);
  // Rows 0 .. n by label: order[start[c] .. start[c + 1]); `order` has 16 words to spare.
  // Takes one sweep for every cluster: pays for few_clusters at most.
  void (*list_by_cluster)(const int32_t* label, int64_t n, int64_t n_clusters, int32_t* order,
                          int64_t* start);
  int64_t (*sum)(const uint32_t* values, int64_t n);
  // log2(counts + priors), 0 where there is no prior; `logs` are those of the least counts, which
  // may be null: 0. See logarithm.hpp.
  void (*log2_of_counts)(const int64_t* counts, const int64_t* least, const double* priors,
                         const double* logs, int64_t n, double* out);
  void (*log2)(const double* numbers, int64_t n, double* out);
  // Prices times `scale`, rounded, and what that has raised them by, which may be null; see
  // rounds/fixed_price.hpp.
  void (*fixed_prices)(const double* prices, int64_t n, double scale, uint32_t* out,
                       int16_t* raised);
  // Returns the sum of the counts, and of the squares of their last 32 bits in `squares`.
  uint64_t (*sum_of_squares)(const int64_t* counts, int64_t n, uint64_t* squares);
  // Sum of row_factor * label_factor.
  uint64_t (*fingerprint)(const int32_t* label, const uint64_t* label_factors, int64_t n_clusters,
                          int64_t n, int64_t first_number);
  // Writes byte columns (n_columns x kTileRows) as rows.
  void (*untranspose)(const uint8_t* columns, int64_t stride, int64_t n_rows, uint8_t* rows);
  // Sets n consecutive bits of a row from bit 0 on: one where the cell equals `ones`.
  void (*pack_bits)(const uint8_t* cells, const uint8_t* ones, int64_t n, uint8_t* out);
  // Marks in seen[column * 256 + value] the values of n rows; known holds 2 x n_columns bytes.
  void (*presence)(const uint8_t* matrix, int64_t n_rows, int64_t n_columns, uint8_t* known,
                   uint8_t* seen);
};

// The instruction set in use; names of those that this CPU has, best last.
const Kernels& kernels();
const char* const* instruction_sets(int* n);
// False if there is no such instruction set on this CPU.
bool use_instruction_set(const char* name);

}  // namespace softmodes
