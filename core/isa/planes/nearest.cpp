// Nearest centers by planes, for one instruction set.
#include "isa/planes/compare.hpp"

namespace softmodes::SOFTMODES_ISA {

// The centers that rows go to: the first and the last of the nearest, and whether there are more.
struct Choice {
  V first[kMostLabelBits], last[kMostLabelBits];
  V tied, more;
};

// From the last center to the first: a row stays open until the first center that is nearest.
static void choose(const Offer* offers, int64_t n, int n_bits, Choice& choice) {
  for (int b = 0; b < n_bits; ++b) choice.first[b] = choice.last[b] = zero();
  V open = ones(), once = zero();
  choice.tied = choice.more = zero();
  for (int64_t c = n; c--;) {
    const auto [lower, equal] = offers[c];
    const V nearest = and_(open, or_(lower, equal));
    if (!any_bit(nearest)) continue;
    const V first = and_(open, lower), last = and_(nearest, not_(once));
    choice.more = or_(choice.more, and_(choice.tied, nearest));
    choice.tied = or_(choice.tied, and_(once, nearest));
    once = or_(once, nearest);
    open = and_(open, not_(lower));
    for (int b = 0; b < n_bits; ++b) {
      if (!(c >> b & 1)) continue;
      choice.first[b] = or_(choice.first[b], first);
      choice.last[b] = or_(choice.last[b], last);
    }
  }
}

static uint64_t word_of(const V& plane, int64_t i) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const uint8_t*>(&plane) + 8 * i, 8);
  return word;
}

// Gives rows that are tied between two centers to the one of the smaller rank.
static void settle_two(const Choice& choice, int64_t n_rows, const Ranks& ranks,
                       const int32_t* last, int32_t* label) {
  int32_t rows[kPlaneRows];
  int64_t n = 0;
  for (int32_t word = 0; 64 * word < n_rows; ++word)
    n += list_bits(word_of(choice.tied, word), 64 * word, rows + n);
  while (n && rows[n - 1] >= n_rows) --n;
  settle_pairs(
      rows, n, ranks.ties.key, [&](int64_t row) { return ranks.row_hash(row); }, ranks.clusters,
      last, label);
}

// Gives rows among 64 that are tied between more than two to the center of the smallest rank.
static void settle_more(const Offer* offers, int64_t n_centers, int64_t word, uint64_t rows,
                        const Ranks& ranks, int32_t* label) {
  const auto row_hash = [&](int i) { return ranks.row_hash(64 * word + i); };
  TieBreaker ties(rows, ranks.ties.key, row_hash);
  uint64_t open = rows;
  for (int64_t c = n_centers; open && c--;) {
    const uint64_t lower = word_of(offers[c].lower, word);
    const uint64_t offered = (lower | word_of(offers[c].equal, word)) & open;
    if (offered) ties.offer(offered, ranks.clusters[c], static_cast<int>(c));
    open &= ~lower;
  }
  ties.write(label + 64 * word);
}

static void settle_ties(const Offer* offers, const Choice& choice, int64_t n_centers, int n_bits,
                        int64_t n_rows, const Ranks& ranks, int32_t* label) {
  int32_t last[kPlaneRows];
  unslice(choice.last, n_bits, kPlaneRows, last);
  settle_two(choice, n_rows, ranks, last, label);
  if (!any_bit(choice.more)) return;
  for (int64_t word = 0; 64 * word < n_rows; ++word) {
    uint64_t more = word_of(choice.more, word);
    if (n_rows - 64 * word < 64) more &= (uint64_t{1} << (n_rows - 64 * word)) - 1;
    if (more) settle_more(offers, n_centers, word, more, ranks, label);
  }
}

void nearest_by_planes(const PlaneView& view, const TileRows& rows, const Ties& ties,
                       const Scratch& scratch, Nearest out) {
  const Ahead ahead = start_tile(view, rows, scratch);
  V lowest[kMostDistanceBits];
  for (auto& plane : lowest) plane = ones();  // more than any distance
  auto* offers = reinterpret_cast<Offer*>(scratch.offers);
  Question question{lowest, offers, nullptr};
  compare_planes(view, scratch, ahead, question);
  const int label_bits = std::bit_width(static_cast<uint64_t>(view.n_centers - 1));
  Choice choice;
  choose(offers, view.n_centers, label_bits, choice);
  unslice(lowest, view.distance_bits, rows.n, out.distance);
  unslice(choice.first, label_bits, rows.n, out.label);
  if (ties.by_hash && any_bit(choice.tied))
    settle_ties(offers, choice, view.n_centers, label_bits, rows.n,
                {ties, rows.bytes, view.clusters}, out.label);
}

}  // namespace softmodes::SOFTMODES_ISA
