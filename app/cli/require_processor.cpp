// Reports a processor that is too old before anything else runs; without this the program would die
// of an illegal instruction. Everything is compiled for x86-64-v3 (AVX2, FMA), this file alone for
// any x86-64.
#include <unistd.h>

namespace {

[[gnu::constructor(101)]] void require_processor() {
    __builtin_cpu_init();  // constructors may run before the library has done so
    if (__builtin_cpu_supports("x86-64-v3")) return;
    constexpr char message[] =
        "hindcast: this processor lacks AVX2 or FMA (x86-64-v3); run it on one made after 2013\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, sizeof message - 1);
    ::_exit(1);
}

}  // namespace
