#include "engine/backend/cuda/phases.hpp"

#include <string>
#include <utility>

#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

const char* const phase_functions = R"(template <class T>
static __device__ inline void gather(int item, T* target, long long stride, long long plane,
                                     const T* terms, int rows, long long row_length,
                                     const unsigned* first, const unsigned* entries,
                                     int components, int clears, int items) {
    const unsigned begin = first[item], end = first[item + 1];
    if (begin == end && !clears) return;
    for (int c = 0; c < components; ++c) {
        T* const at = target + item * stride + c * plane;
        const T* const column = terms + c * rows * row_length;
        T sum = clears ? T(0) : *at;
        for (unsigned e = begin; e < end; ++e) sum = sum + column[entries[e]];
        *at = sum;
    }
}
// Totals in fixed point: of the high limb, and of both. See fixed_value() in fixed_point.hpp.
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
template <class T>
static __device__ inline void take_fixed(int item, T* target, long long stride, long long plane,
                                         Fixed* fixed, int components, int defines, int items) {
    if (item == 0) fixed->largest = fixed->terms = 0;  // for the next launch
    for (int c = 0; c < components; ++c) {
        const long long at = (long long)item * components + c;
        unsigned long long* const high = fixed->sums + at;
        unsigned long long* const low = high + (long long)items * components;
        const unsigned kinds = fixed->kinds[at];
        double total = 0;
        if (sizeof(T) == 8) {
            if (kinds == 0) total = nearest((long long)*high, (long long)*low, fixed->low_bits);
            *low = 0;
        } else if (kinds == 0) {
            total = (double)(long long)*high;
        }
        *high = 0;
        fixed->kinds[at] = 0;
        T value = (T)(total * fixed->unit[0] * fixed->unit[1]);
        if (kinds != 0)
            value = (T)__longlong_as_double(kinds == 1 ? 0x7ff0000000000000ll
                                            : kinds == 2 ? (long long)0xfff0000000000000ull
                                                         : 0x7ff8000000000000ll);
        T* const to = target + item * stride + c * plane;
        if (defines)
            *to = value + T(0);
        else if (value != T(0))
            *to = *to + value;
    }
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
static __device__ inline void scale_fixed(int item, Fixed* fixed, long long terms, int two_limbs,
                                          int items) {
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
template <class T>
static __device__ inline void fill(int item, T* target, long long stride, long long plane,
                                   int components, T value, int items) {
    for (int c = 0; c < components; ++c) target[item * stride + c * plane] = value;
}
template <class T>
static __device__ inline void add(int item, T* target, const T* own, int items) {
    target[item] = target[item] + own[item];
}
template <class To, class From>
static __device__ inline void convert(int item, To* to, const From* from, int items) {
    to[item] = (To)from[item];
}
template <class T>
static __device__ inline void not_finite(int item, const T* values, int* flag, int items) {
    if (!(values[item] * T(0) == T(0))) *flag = 1;
}
static __device__ inline void add_lanes(int item, const double* reduced, int count, int chunks,
                                        double* lanes, int items) {
    const int lane = item % 16, chunk = item / 16 % chunks, component = item / 16 / chunks;
    const double* const terms = reduced + (long long)component * count;
    double sum = 0;
    const long long begin = (long long)chunk * 1024, end = begin + 1024 < count ? begin + 1024 : count;
    for (long long i = begin + lane; i < end; i += 16) sum = sum + terms[i];
    lanes[item] = sum;
}
static __device__ inline void add_chunks(int item, const double* lanes, double* totals,
                                         int items) {
    double lane[16];
    for (int l = 0; l < 16; ++l) lane[l] = lanes[(long long)item * 16 + l];
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
    totals[item] = lane[0];
}
static __device__ inline void add_total(int item, const double* totals, int chunks, double* target,
                                        int items) {
    double sum = 0;
    for (int k = 0; k < chunks; ++k) sum = sum + totals[(long long)item * chunks + k];
    target[item] = target[item] + sum;
}
static __device__ inline void copy_word(int item, unsigned* to, const unsigned* from, int items) {
    to[item] = from[item];
}
)";

const char* const phases =
    R"(extern "C" __global__ void gather_f32(float* __restrict__ target, long long stride,
                                      long long plane, const float* __restrict__ terms, int rows,
                                      long long row_length, const unsigned* __restrict__ first,
                                      const unsigned* __restrict__ entries, int components,
                                      int clears, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) gather<float>(item, target, stride, plane, terms, rows, row_length, first,
                                    entries, components, clears, items);
}
extern "C" __global__ void gather_f64(double* __restrict__ target, long long stride,
                                      long long plane, const double* __restrict__ terms, int rows,
                                      long long row_length, const unsigned* __restrict__ first,
                                      const unsigned* __restrict__ entries, int components,
                                      int clears, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) gather<double>(item, target, stride, plane, terms, rows, row_length, first,
                                     entries, components, clears, items);
}
extern "C" __global__ void fixed_f32(float* __restrict__ target, long long stride, long long plane,
                                     Fixed* fixed, int components, int defines, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) take_fixed<float>(item, target, stride, plane, fixed, components, defines,
                                        items);
}
extern "C" __global__ void fixed_f64(double* __restrict__ target, long long stride,
                                     long long plane, Fixed* fixed, int components, int defines,
                                     int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) take_fixed<double>(item, target, stride, plane, fixed, components, defines,
                                         items);
}
extern "C" __global__ void fixed_scale(Fixed* fixed, long long terms, int two_limbs, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) scale_fixed(item, fixed, terms, two_limbs, items);
}
extern "C" __global__ void fill_4(unsigned* __restrict__ target, long long stride, long long plane,
                                  int components, unsigned value, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) fill<unsigned>(item, target, stride, plane, components, value, items);
}
extern "C" __global__ void fill_8(unsigned long long* __restrict__ target, long long stride,
                                  long long plane, int components, unsigned long long value,
                                  int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) fill<unsigned long long>(item, target, stride, plane, components, value,
                                               items);
}
extern "C" __global__ void add_f32(float* __restrict__ target, const float* __restrict__ own,
                                   int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) add<float>(item, target, own, items);
}
extern "C" __global__ void add_f64(double* __restrict__ target, const double* __restrict__ own,
                                   int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) add<double>(item, target, own, items);
}
extern "C" __global__ void widen(double* __restrict__ to, const float* __restrict__ from,
                                 int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) convert<double, float>(item, to, from, items);
}
extern "C" __global__ void narrow(float* __restrict__ to, const double* __restrict__ from,
                                  int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) convert<float, double>(item, to, from, items);
}
extern "C" __global__ void not_finite_f32(const float* __restrict__ values, int* __restrict__ flag,
                                          int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) not_finite<float>(item, values, flag, items);
}
extern "C" __global__ void not_finite_f64(const double* __restrict__ values,
                                          int* __restrict__ flag, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) not_finite<double>(item, values, flag, items);
}
extern "C" __global__ void reduce_lanes(const double* __restrict__ reduced, int count, int chunks,
                                        double* __restrict__ lanes, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) add_lanes(item, reduced, count, chunks, lanes, items);
}
extern "C" __global__ void reduce_chunks(const double* __restrict__ lanes,
                                         double* __restrict__ totals, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) add_chunks(item, lanes, totals, items);
}
extern "C" __global__ void reduce_total(const double* __restrict__ totals, int chunks,
                                        double* __restrict__ target, int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item < items) add_total(item, totals, chunks, target, items);
}
)";

const char* phase_function(std::string_view phase) {
    constexpr std::pair<std::string_view, const char*> all[] = {
        {"gather_f32", "gather<float>"},
        {"gather_f64", "gather<double>"},
        {"fixed_f32", "take_fixed<float>"},
        {"fixed_f64", "take_fixed<double>"},
        {"fixed_scale", "scale_fixed"},
        {"fill_4", "fill<unsigned>"},
        {"fill_8", "fill<unsigned long long>"},
        {"add_f32", "add<float>"},
        {"add_f64", "add<double>"},
        {"widen", "convert<double, float>"},
        {"narrow", "convert<float, double>"},
        {"not_finite_f32", "not_finite<float>"},
        {"not_finite_f64", "not_finite<double>"},
        {"reduce_lanes", "add_lanes"},
        {"reduce_chunks", "add_chunks"},
        {"reduce_total", "add_total"},
    };
    for (const auto& [name, function] : all)
        if (name == phase) return function;
    throw Error("internal: there is no phase " + std::string(phase));
}

}  // namespace hindcast::backend::cuda
