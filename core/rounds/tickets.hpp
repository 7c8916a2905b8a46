// Tickets: whole numbers drawn from all that rows have shares of, one row after the other.
#pragma once

#include <cstdint>

namespace softmodes {

// Uniform numbers below a bound of 2^63 at most, from the words of an address.
void draw_tickets(uint64_t key, int64_t n, uint64_t bound, int64_t* tickets);

// What rows have of all tickets, and the sums of `at_once` rows each.
template <class T>
struct TicketShares {
  const T* by_row;
  int64_t n_rows;
  const int64_t* sums;
  int64_t at_once;
};

// The row in whose share each ticket falls, and how far in.
template <class T>
void search_tickets(const TicketShares<T>& shares, const int64_t* tickets, int64_t n, int64_t* rows,
                    int64_t* rests);

}  // namespace softmodes
