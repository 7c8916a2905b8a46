// Measures the roofs of the instruction set in use, for the benchmarks.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>

#include "bindings.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "roofs.hpp"

namespace nb = nanobind;

namespace softmodes {

namespace {

constexpr int kRepeats = 40;
constexpr double kSeconds = 2e-3;                   // of one repeat: short, to find a quiet moment
constexpr int64_t kSliceBytes = int64_t{32} << 20;  // read in one repeat
constexpr int64_t kSlices = 16;                     // together beyond any but the largest caches
constexpr int64_t kRounds = 4;

using Work = std::function<void(int64_t task, uint8_t* sink)>;

double seconds_of(int n_threads, const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  run_tasks(
      n_threads, n_threads, [] { return false; },
      [&](int64_t i, int, const Stop&) {
        alignas(64) uint8_t sink[64] = {};
        work(i, sink);
        [[maybe_unused]] volatile uint8_t kept = sink[0];
      });
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double least_seconds(int repeats, int n_threads, const Work& work) {
  double least = seconds_of(n_threads, work);
  for (int i = 1; i < repeats; ++i) least = std::min(least, seconds_of(n_threads, work));
  return least;
}

// Bytes dealt with per second by all threads together.
double sweep_rate(int64_t sweep_bytes, void (*sweep)(int64_t, uint8_t*), int n_threads) {
  int64_t sweeps = 64;
  const Work work = [&](int64_t, uint8_t* sink) { sweep(sweeps, sink); };
  while (least_seconds(2, 1, work) < kSeconds) sweeps *= 2;
  const double bytes = static_cast<double>(sweeps * sweep_bytes * n_threads);
  return bytes / least_seconds(kRepeats, n_threads, work);
}

double read_rate(const Roofs& roofs, int n_threads) {
  const int64_t share = kSliceBytes / n_threads / 1024 * 1024, slice = share * n_threads;
  const std::unique_ptr<uint8_t[]> bytes(new uint8_t[static_cast<size_t>(kSlices * slice)]);
  // Pages that were never written to are all the same page.
  std::memset(bytes.get(), 1, static_cast<size_t>(kSlices * slice));
  double least = 1e300;
  for (int64_t s = 0; s < kRounds * kSlices; ++s) {
    const uint8_t* start = bytes.get() + s % kSlices * slice;
    const double seconds = seconds_of(
        n_threads, [&](int64_t i, uint8_t* sink) { roofs.read(start + i * share, share, sink); });
    least = std::min(least, seconds);
  }
  return static_cast<double>(slice) / least;
}

nb::dict measure_roofs(int n_threads) {
  const Roofs& roofs = *kernels().roofs;
  n_threads = std::max(n_threads, 1);
  double lookup, popcount, planes, read;
  {
    const nb::gil_scoped_release released;
    lookup = sweep_rate(roofs.sweep_bytes, roofs.lookup, n_threads);
    popcount = sweep_rate(roofs.sweep_bytes, roofs.popcounts, n_threads);
    planes = sweep_rate(roofs.planes_bytes, roofs.planes, n_threads);
    read = read_rate(roofs, n_threads);
  }
  nb::dict found;
  found["lookup"] = lookup;
  found["popcount"] = popcount;
  found["planes"] = planes;
  found["planes_from"] = kernels().sliced_centers;
  found["read"] = read;
  found["bits_by_popcount"] = roofs.popcount;
  return found;
}

}  // namespace

void bind_roofs(nb::module_& m) { m.def("roofs", &measure_roofs, nb::arg("n_threads")); }

}  // namespace softmodes
