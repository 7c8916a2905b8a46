#include "rounds/tickets.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "hashing.hpp"

namespace softmodes {

void draw_tickets(uint64_t key, int64_t n, uint64_t bound, int64_t* tickets) {
  for (int64_t i = 0; i < n; ++i)
    tickets[i] = static_cast<int64_t>(scale_to(fold(key, static_cast<uint64_t>(i)), bound));
}

template <class T>
void search_tickets(const TicketShares<T>& shares, const int64_t* tickets, int64_t n, int64_t* rows,
                    int64_t* rests) {
  const int64_t n_sums = (shares.n_rows + shares.at_once - 1) / shares.at_once;
  std::vector<int64_t> ends(static_cast<size_t>(n_sums));
  std::partial_sum(shares.sums, shares.sums + n_sums, ends.begin());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t some = std::upper_bound(ends.begin(), ends.end(), tickets[i]) - ends.begin();
    int64_t rest = tickets[i] - (some ? ends[some - 1] : 0);
    int64_t row = some * shares.at_once;
    while (row + 1 < shares.n_rows && rest >= static_cast<int64_t>(shares.by_row[row]))
      rest -= static_cast<int64_t>(shares.by_row[row++]);
    rows[i] = row;
    rests[i] = rest;
  }
}

template void search_tickets(const TicketShares<uint8_t>&, const int64_t*, int64_t, int64_t*,
                             int64_t*);
template void search_tickets(const TicketShares<uint16_t>&, const int64_t*, int64_t, int64_t*,
                             int64_t*);
template void search_tickets(const TicketShares<uint32_t>&, const int64_t*, int64_t, int64_t*,
                             int64_t*);
template void search_tickets(const TicketShares<int64_t>&, const int64_t*, int64_t, int64_t*,
                             int64_t*);

}  // namespace softmodes
