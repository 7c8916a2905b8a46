// Which instruction sets this CPU has, and which one is in use.
#include <atomic>
#include <cstring>

#include "isa/kernels.hpp"

namespace softmodes {

#define SOFTMODES_DECLARE(isa) \
  namespace isa {              \
  extern const Kernels table;  \
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

struct Available {
  const Kernels* table[4];
  const char* name[4];
  int n = 0;

  void add(const Kernels& k) {
    table[n] = &k;
    name[n++] = k.name;
  }

  Available() {
    add(generic::table);
#ifdef SOFTMODES_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("ssse3")) add(ssse3::table);
    if (__builtin_cpu_supports("avx2")) add(avx2::table);
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq") &&
        __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("gfni") &&
        __builtin_cpu_supports("bmi2"))
      add(avx512::table);
#endif
#ifdef SOFTMODES_NEON
    add(neon::table);
#endif
  }
};

const Available& available() {
  static const Available found;
  return found;
}

std::atomic<const Kernels*> in_use{nullptr};

}  // namespace

const Kernels& kernels() {
  const Kernels* chosen = in_use.load(std::memory_order_relaxed);
  return chosen ? *chosen : *available().table[available().n - 1];
}

const char* const* instruction_sets(int* n) {
  *n = available().n;
  return available().name;
}

bool use_instruction_set(const char* name) {
  for (int i = 0; i < available().n; ++i)
    if (!std::strcmp(name, available().name[i])) {
      in_use = available().table[i];
      return true;
    }
  return false;
}

}  // namespace softmodes
