#include "engine/backend/cuda/prelude.hpp"

namespace hindcast::backend::cuda {

const char* const prelude =
    R"(// Faults: the lowest item that has one, the op, and the index; the key is ~0 if there is none.
struct Fault {
    unsigned long long key;
    long long index;
    int lock;
};
static __device__ inline void report(Fault* fault, int item, int op, long long index) {
    const unsigned long long key = (unsigned long long)(unsigned)item << 32 | (unsigned)op;
    bool waits = true;
    while (waits)
        if (atomicCAS(&fault->lock, 0, 1) == 0) {
            __threadfence();
            volatile Fault* const now = fault;
            if (key < now->key) {
                now->key = key;
                now->index = index;
            }
            __threadfence();
            atomicExch(&fault->lock, 0);
            waits = false;
        }
}
// Sums in fixed point of one parameter.
struct Fixed {
    unsigned long long* sums;
    unsigned* kinds;
    double factor[2], low_factor, unit[2];
    unsigned long long largest, terms;
    int low_bits;
};
// False for a term that is not finite.
static __device__ inline bool note_fixed(Fixed* fixed, double term) {
    const unsigned long long bits =
        (unsigned long long)__double_as_longlong(term) & 0x7fffffffffffffffull;
    if (bits >= 0x7ff0000000000000ull) return false;
    if (bits > *(volatile unsigned long long*)&fixed->largest) atomicMax(&fixed->largest, bits);
    return true;
}
// `low`: where the low limb stands, counted from the high one; 0 if there is none.
static __device__ inline void add_fixed(Fixed* fixed, long long at, long long low, double term) {
    if (!note_fixed(fixed, term)) {
        atomicOr(&fixed->kinds[at], !(term == term) ? 4u : term > 0.0 ? 1u : 2u);
        return;
    }
    const double scaled = term * fixed->factor[0] * fixed->factor[1], whole = trunc(scaled);
    if (whole != 0.0) atomicAdd(&fixed->sums[at], (unsigned long long)(long long)whole);
    if (low == 0) return;
    const double rest = trunc((scaled - whole) * fixed->low_factor);
    if (rest != 0.0) atomicAdd(&fixed->sums[at + low], (unsigned long long)(long long)rest);
}
// Real to integer truncates, saturates, and gives 0 for NaN.
static __device__ inline int to_i32(double x) {
    return !(x == x) ? 0 : x <= -2147483648.0 ? -2147483647 - 1 : x >= 2147483648.0 ? 2147483647 : (int)x;
}
static __device__ inline unsigned to_u32(double x) {
    return !(x > 0.0) ? 0u : x >= 4294967296.0 ? 4294967295u : (unsigned)x;
}
static __device__ inline long long to_i64(double x) {
    return !(x == x)                     ? 0
           : x <= -9223372036854775808.0 ? -9223372036854775807LL - 1
           : x >= 9223372036854775808.0  ? 9223372036854775807LL
                                         : (long long)x;
}
static __device__ inline unsigned long long to_u64(double x) {
    return !(x > 0.0) ? 0 : x >= 18446744073709551616.0 ? ~0ull : (unsigned long long)x;
}
)";

}  // namespace hindcast::backend::cuda
