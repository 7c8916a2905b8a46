// Measures the roofs of one instruction set and prints them as JSON: roofs NAME N_THREADS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include "parallel.hpp"
#include "roofs.hpp"

namespace softmodes {

#define SOFTMODES_DECLARE(isa) \
  namespace isa {              \
  extern const Roofs roofs;    \
  }
SOFTMODES_DECLARE(generic)
#ifdef SOFTMODES_X86
SOFTMODES_DECLARE(ssse3)
SOFTMODES_DECLARE(avx2)
SOFTMODES_DECLARE(avx512)
#endif
#ifdef SOFTMODES_NEON
SOFTMODES_DECLARE(neon)
#endif

namespace {

const Roofs* const kAll[] = {
    &generic::roofs,
#ifdef SOFTMODES_X86
    &ssse3::roofs,   &avx2::roofs, &avx512::roofs,
#endif
#ifdef SOFTMODES_NEON
    &neon::roofs,
#endif
};

constexpr int kRepeats = 40;
constexpr double kSeconds = 2e-3;                  // of one repeat: short, to find a quiet moment
constexpr int64_t kReadBytes = int64_t{32} << 20;  // read in one repeat
constexpr int64_t kReads = 16;                     // together beyond any but the largest caches
constexpr int64_t kRounds = 4;

using Work = std::function<void(int64_t task, uint8_t* sink)>;

double seconds_of(int n_threads, const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  run_tasks(n_threads, Threads{n_threads, {}}, [&](int64_t i, int, const Stop&) {
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
  const int64_t each = kReadBytes / n_threads / 1024 * 1024, together = each * n_threads;
  const std::unique_ptr<uint8_t[]> bytes(new uint8_t[static_cast<size_t>(kReads * together)]);
  // Pages that were never written to are all the same page.
  std::memset(bytes.get(), 1, static_cast<size_t>(kReads * together));
  double least = 1e300;
  for (int64_t s = 0; s < kRounds * kReads; ++s) {
    const uint8_t* start = bytes.get() + s % kReads * together;
    const double seconds = seconds_of(
        n_threads, [&](int64_t i, uint8_t* sink) { roofs.read(start + i * each, each, sink); });
    least = std::min(least, seconds);
  }
  return static_cast<double>(together) / least;
}

void print(const Roofs& roofs, int n_threads) {
  std::printf(
      "{\"lookup\": %.6g, \"popcount\": %.6g, \"planes\": %.6g, \"planes_from\": %d, "
      "\"read\": %.6g, \"bits_by_popcount\": %s}\n",
      sweep_rate(roofs.sweep_bytes, roofs.lookup, n_threads),
      sweep_rate(roofs.sweep_bytes, roofs.popcounts, n_threads),
      sweep_rate(roofs.planes_bytes, roofs.planes, n_threads), roofs.plane_centers,
      read_rate(roofs, n_threads), roofs.popcount ? "true" : "false");
}

}  // namespace
}  // namespace softmodes

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "generic";
  const int n_threads = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, softmodes::Threads::kMost) : 1;
  for (const auto* roofs : softmodes::kAll)
    if (!std::strcmp(roofs->name, name)) {
      softmodes::print(*roofs, n_threads);
      return 0;
    }
  std::fprintf(stderr, "%s is not an instruction set that was built\n", name);
  return 1;
}
