#include "engine/backend/cuda/phases.hpp"

#include <string_view>
#include <utility>

namespace hindcast::backend::cuda {

namespace {

constexpr const char* once =
    R"(// Totals in fixed point: of the high limb, and of both. See fixed_value() in fixed_point.hpp.
static __device__ inline double nearest(long long high, long long low, int low_bits) {
    // high << low_bits, plus low, as 128 bits
    unsigned long long lower = (unsigned long long)high << low_bits;
    unsigned long long upper = (unsigned long long)(low_bits == 0 ? high >> 63 : high >> (64 - low_bits));
    const unsigned long long sum = lower + (unsigned long long)low;
    upper += (low < 0 ? ~0ull : 0ull) + (sum < lower ? 1ull : 0ull);
    lower = sum;
    const bool negative = (long long)upper < 0;
    if (negative) {
        lower = 0ull - lower;
        upper = ~upper + (lower == 0 ? 1ull : 0ull);
    }
    // Its upper 64 bits, of which the last one is set where a bit is cut off, round as the whole.
    const int cut = upper == 0 ? 0 : 64 - __clzll((long long)upper);
    unsigned long long kept = lower;
    if (cut > 0) {
        kept = upper << (64 - cut) | (cut == 64 ? 0 : lower >> cut);
        kept |= lower << (64 - cut) != 0 ? 1ull : 0ull;
    }
    const double value = (double)kept * __longlong_as_double((long long)(1023 + cut) << 52);
    return negative ? -value : value;
}
// 2^exponent as a product of two factors that a double holds.
static __device__ inline double power_of_two(int exponent) {
    return __longlong_as_double((long long)(1023 + exponent) << 52);
}
static __device__ inline void set_power(double* factor, int exponent) {
    const int first = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
    factor[0] = power_of_two(first);
    factor[1] = power_of_two(exponent - first);
}
extern "C" __global__ void fixed_scale(Fixed* fixed, long long terms, int two_limbs, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    const unsigned long long count = terms < 0 ? fixed->terms : (unsigned long long)terms;
    const int bits = 62 - (count <= 1 ? 0 : 64 - __clzll((long long)(count - 1)));
    int exponent = 0;  // largest < 2^exponent
    const unsigned long long largest = fixed->largest;
    if (largest >> 52 != 0)
        exponent = (int)(largest >> 52) - 1022;
    else if (largest != 0)
        exponent = 64 - __clzll((long long)largest) - 1074;
    const int rounded_up = (exponent + 4096 + 3) / 4 * 4 - 4096;
    const int high_bits = bits - rounded_up;
    set_power(fixed->factor, high_bits);
    fixed->low_factor = power_of_two(bits);
    set_power(fixed->unit, two_limbs ? -high_bits - bits : -high_bits);
    fixed->low_bits = bits;
}
extern "C" __global__ void reduce_lanes(const double* __restrict__ reduced, int count, int chunks,
                                        double* __restrict__ lanes, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    const int lane = item % 16, chunk = item / 16 % chunks, component = item / 16 / chunks;
    const double* const terms = reduced + (long long)component * count;
    double sum = 0;
    const long long begin = (long long)chunk * 1024, end = begin + 1024 < count ? begin + 1024 : count;
    for (long long i = begin + lane; i < end; i += 16) sum = sum + terms[i];
    lanes[item] = sum;
}
extern "C" __global__ void reduce_chunks(const double* __restrict__ lanes, double* __restrict__ totals,
                                         int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    double lane[16];
    for (int l = 0; l < 16; ++l) lane[l] = lanes[(long long)item * 16 + l];
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
    totals[item] = lane[0];
}
extern "C" __global__ void reduce_total(const double* __restrict__ totals, int chunks,
                                        double* __restrict__ target, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    double sum = 0;
    for (int k = 0; k < chunks; ++k) sum = sum + totals[(long long)item * chunks + k];
    target[item] = target[item] + sum;
}
)";

// Words in capitals differ between the precisions, see replacements.
constexpr const char* for_each_precision =
    R"(extern "C" __global__ void gather_TYPE(REAL* __restrict__ target, long long stride, long long plane,
                                       const REAL* __restrict__ terms, int rows,
                                       long long row_length, const unsigned* __restrict__ first,
                                       const unsigned* __restrict__ entries, int components,
                                       int clears, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    const unsigned begin = first[item], end = first[item + 1];
    if (begin == end && !clears) return;
    for (int c = 0; c < components; ++c) {
        REAL* const at = target + item * stride + c * plane;
        const REAL* const column = terms + c * rows * row_length;
        REAL sum = clears ? REAL(0) : *at;
        for (unsigned e = begin; e < end; ++e) sum = sum + column[entries[e]];
        *at = sum;
    }
}
extern "C" __global__ void fixed_TYPE(REAL* __restrict__ target, long long stride, long long plane,
                                      Fixed* fixed, int components, int defines, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    if (item == 0) fixed->largest = fixed->terms = 0;  // for the next launch
    for (int c = 0; c < components; ++c) {
        const long long at = (long long)item * components + c;
        unsigned long long* const high = fixed->sums + at;
        unsigned long long* const low = high + (long long)items * components;
        const unsigned kinds = fixed->kinds[at];
        double total = 0;
        if (sizeof(REAL) == 8) {
            if (kinds == 0) total = nearest((long long)*high, (long long)*low, fixed->low_bits);
            *low = 0;
        } else if (kinds == 0) {
            total = (double)(long long)*high;
        }
        *high = 0;
        fixed->kinds[at] = 0;
        REAL value = (REAL)(total * fixed->unit[0] * fixed->unit[1]);
        if (kinds != 0)
            value = (REAL)__longlong_as_double(kinds == 1 ? 0x7ff0000000000000ll
                                            : kinds == 2 ? (long long)0xfff0000000000000ull
                                                         : 0x7ff8000000000000ll);
        REAL* const to = target + item * stride + c * plane;
        if (defines)
            *to = value + REAL(0);
        else if (value != REAL(0))
            *to = *to + value;
    }
}
extern "C" __global__ void fill_BYTES(WORD* __restrict__ target, long long stride, long long plane,
                                      int components, WORD value, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    for (int c = 0; c < components; ++c) target[item * stride + c * plane] = value;
}
extern "C" __global__ void add_TYPE(REAL* __restrict__ target, const REAL* __restrict__ own, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    target[item] = target[item] + own[item];
}
extern "C" __global__ void CONVERT(REAL* __restrict__ to, const OTHER* __restrict__ from, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    to[item] = (REAL)from[item];
}
extern "C" __global__ void not_finite_TYPE(const REAL* __restrict__ values, int* __restrict__ flag,
                                           int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    if (!(values[item] * REAL(0) == REAL(0))) *flag = 1;
}
)";

constexpr std::pair<std::string_view, std::string_view> replacements[][6] = {
    {{"TYPE", "f32"},
     {"REAL", "float"},
     {"OTHER", "double"},
     {"WORD", "unsigned"},
     {"BYTES", "4"},
     {"CONVERT", "narrow"}},
    {{"TYPE", "f64"},
     {"REAL", "double"},
     {"OTHER", "float"},
     {"WORD", "unsigned long long"},
     {"BYTES", "8"},
     {"CONVERT", "widen"}}};

}  // namespace

std::string phases() {
    std::string all = once;
    for (const auto& words : replacements) {
        std::string text = for_each_precision;
        for (const auto& [word, own] : words)
            for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;)
                text.replace(at, word.size(), own);
        all += text;
    }
    return all;
}

}  // namespace hindcast::backend::cuda
