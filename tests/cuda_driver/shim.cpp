#include "tests/cuda_driver/shim.hpp"

namespace software_cuda {

// Threads run one at a time, so atomics are plain. The entry holds the only call of a __global__
// function, inlined: its arguments stay in registers.
const char* const shim = R"(#define __device__
#define __global__ inline __attribute__((always_inline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
extern "C" {
double ceil(double); double fabs(double); double floor(double); double fma(double, double, double);
double rint(double); double sqrt(double); double trunc(double);
float ceilf(float); float fabsf(float); float floorf(float); float fmaf(float, float, float);
float rintf(float); float sqrtf(float); float truncf(float);
}
static inline float ceil(float x) { return ceilf(x); }
static inline float fabs(float x) { return fabsf(x); }
static inline float floor(float x) { return floorf(x); }
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
static inline float rint(float x) { return rintf(x); }
static inline float sqrt(float x) { return sqrtf(x); }
static inline float trunc(float x) { return truncf(x); }
struct Index3 { unsigned x, y, z; };
static Index3 blockIdx, blockDim, threadIdx, gridDim;
template <class T, class U> static inline T atomicAdd(T* at, U x) { T old = *at; *at = (T)(old + (T)x); return old; }
template <class T, class U> static inline T atomicMin(T* at, U x) { T old = *at; if ((T)x < old) *at = (T)x; return old; }
template <class T, class U> static inline T atomicMax(T* at, U x) { T old = *at; if (old < (T)x) *at = (T)x; return old; }
template <class T, class U> static inline T atomicOr(T* at, U x) { T old = *at; *at = old | (T)x; return old; }
template <class T, class U> static inline T atomicExch(T* at, U x) { T old = *at; *at = (T)x; return old; }
template <class T, class U, class V> static inline T atomicCAS(T* at, U expected, V x) { T old = *at; if (old == (T)expected) *at = (T)x; return old; }
static inline void __threadfence() {}
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
static inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
namespace hindcast_software {
struct Grid {
    unsigned blocks[3], threads[3];
    unsigned long long first_block, block_step, first_thread, thread_step;
};
template <class T> struct Same { using type = T; };
template <unsigned... K> struct Indices {};
template <unsigned N, unsigned... K> struct Up : Up<N - 1, N - 1, K...> {};
template <unsigned... K> struct Up<0, K...> { using type = Indices<K...>; };
template <class T> struct Flag { static constexpr unsigned of_pointer = 0; };
template <class T> struct Flag<T*> { static constexpr unsigned of_pointer = 0x80000000u; };
template <auto kernel> struct Entry;
template <class... A, void (*kernel)(A...)> struct Entry<kernel> {
    static constexpr unsigned sizes[] = {sizeof...(A), (unsigned)sizeof(A)...};
    static constexpr unsigned described[] = {sizeof...(A), ((unsigned)sizeof(A) | Flag<A>::of_pointer)...};
    static constexpr unsigned offset(unsigned k) {
        unsigned at = 0;
        for (unsigned j = 0; j < k; ++j) at += (sizes[j + 1] + 7) / 8 * 8;
        return at;
    }
    __attribute__((always_inline)) static inline void loop(const Grid& g, A... values) {
        const unsigned bx = g.blocks[0], by = g.blocks[1], tx = g.threads[0], ty = g.threads[1];
        const unsigned long long blocks = (unsigned long long)bx * by * g.blocks[2],
                                 block_step = g.block_step;
        const unsigned threads = tx * ty * g.threads[2], first_thread = (unsigned)g.first_thread,
                       thread_step = (unsigned)g.thread_step;
        const bool flat = ty * g.threads[2] == 1;
        gridDim = {bx, by, g.blocks[2]};
        blockDim = {tx, ty, g.threads[2]};
        unsigned long long block = g.first_block;
        for (unsigned long long j = 0; j < blocks; ++j) {
            blockIdx = {(unsigned)(block % bx), (unsigned)(block / bx % by), (unsigned)(block / bx / by)};
            unsigned thread = first_thread;
            threadIdx = {0, 0, 0};
            for (unsigned k = 0; k < threads; ++k) {
                threadIdx.x = thread;
                if (!flat) threadIdx = {thread % tx, thread / tx % ty, thread / tx / ty};
                kernel(values...);
                thread += thread_step;
                if (thread >= threads) thread -= threads;
            }
            block += block_step;
            if (block >= blocks) block -= blocks;
        }
    }
    template <unsigned... K>
    __attribute__((always_inline)) static inline void run(const unsigned char* a, const Grid& g, Indices<K...>) {
        loop(g, *(const A*)(a + offset(K))...);
    }
    __attribute__((always_inline)) static inline void run(const unsigned char* a, const Grid& g) {
        run(a, g, typename Up<sizeof...(A)>::type());
    }
};
}
)";

const char* const entry = R"(
extern "C" __attribute__((visibility("default"))) void hindcast_run_@(const unsigned char* a, const hindcast_software::Grid* g) {
    hindcast_software::Entry<&@>::run(a, *g);
}
extern "C" __attribute__((visibility("default"))) const unsigned* hindcast_sizes_@() {
    return hindcast_software::Entry<&@>::described;
}
)";

}  // namespace software_cuda
