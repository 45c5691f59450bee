#include "engine/backend/cpu/launch/fixed_totals.hpp"

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

namespace {

typedef std::int64_t Integers __attribute__((vector_size(32)));
typedef std::uint64_t Words __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(16)));

// Rounded to nearest. Both halves are exact: as mantissas of 2^52 and of 2^84, the upper one with
// 2^31 added to make it positive; the sum rounds once.
Doubles to_doubles(Integers x) {
    const Words low = ((Words)x & 0xffffffffu) | 0x4330000000000000u;
    const Words high = (((Words)x >> 32) ^ 0x80000000u) | 0x4530000000000000u;
    return ((Doubles)high - (0x1p84 + 0x1p63)) + ((Doubles)low - 0x1p52);
}

using Sources = std::span<std::int64_t* const>;

bool is_zero(Integers total) { return _mm256_testz_si256((__m256i)total, (__m256i)total) != 0; }

// Totals of N adjacent sums, which are cleared. Many between the lowest and the highest element
// touched are zero: points touch parts of the rows of a grid.
template <int N>
Integers take_totals(Sources sources, std::int64_t at) {
    constexpr std::size_t bytes = N * sizeof(std::int64_t);
    Integers total{};
    for (std::int64_t* const sums : sources) {
        Integers part{};
        std::memcpy(&part, sums + at, bytes);
        if (is_zero(part)) continue;
        total += part;
        std::memset(sums + at, 0, bytes);
    }
    return total;
}

template <int N>
void store(Floats value, float* to) {
    if (N == 3) {  // a copy of 12 bytes would go through memory
        _mm_storel_pi(reinterpret_cast<__m64*>(to), value);
        _mm_store_ss(to + 2, _mm_movehl_ps(value, value));
    } else {
        std::memcpy(to, &value, N * sizeof(float));
    }
}

// Adds N values (or stores them) to adjacent numbers. A value of zero changes nothing.
template <int N>
void add_values(Integers total, double unit, bool defines, float* to) {
    if (is_zero(total)) {
        if (defines) std::memset(to, 0, N * sizeof(float));
        return;
    }
    Floats value = __builtin_convertvector(to_doubles(total) * unit, Floats) + 0.0f;
    if (!defines) {
        Floats old{};
        std::memcpy(&old, to, N * sizeof(float));
        value = value != 0 ? old + value : old;
    }
    store<N>(value, to);
}

// For processors with AVX-512. Two vectors of 64 bytes hold the integers of a block, which becomes
// one vector of f32.
typedef std::int64_t EightIntegers __attribute__((vector_size(64)));
typedef double EightDoubles __attribute__((vector_size(64)));
typedef float EightFloats __attribute__((vector_size(32)));
typedef float SixteenFloats __attribute__((vector_size(64)));
#define HINDCAST_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))

bool has_avx512() {
    static const bool has = natural_width(ir::Precision::f32) == 16;
    return has;
}

HINDCAST_AVX512 EightFloats to_floats(__m512i sums, double unit) {
    const EightDoubles scaled = __builtin_convertvector((EightIntegers)sums, EightDoubles) * unit;
    return __builtin_convertvector(scaled, EightFloats) + 0.0f;  // no -0
}

// Blocks of 16 adjacent integers, which are those of 16 / padded(N) elements that lie one behind
// the other in the target. Returns the first element that is left over.
template <int N>
HINDCAST_AVX512 std::int64_t add_blocks(Sources sources, double unit, bool defines, float* target,
                                        std::int64_t begin, std::int64_t end) {
    constexpr int elements = 16 / padded(N);
    constexpr auto mask = static_cast<__mmask16>((1u << (elements * N)) - 1);
    const __m512i zero = _mm512_setzero_si512();
    std::int64_t e = begin;
    for (; e + elements <= end; e += elements) {
        __m512i low = zero, high = zero;
        for (std::int64_t* const sums : sources) {
            std::int64_t* const at = sums + e * padded(N);
            const __m512i l = _mm512_loadu_si512(at), h = _mm512_loadu_si512(at + 8);
            const __m512i any = l | h;
            if (_mm512_test_epi64_mask(any, any) == 0) continue;
            low = _mm512_add_epi64(low, l);
            high = _mm512_add_epi64(high, h);
            _mm512_storeu_si512(at, zero);
            _mm512_storeu_si512(at + 8, zero);
        }
        float* const to = target + e * N;
        const __m512i any = low | high;
        if (_mm512_test_epi64_mask(any, any) == 0) {
            if (defines) _mm512_mask_storeu_ps(to, mask, _mm512_setzero_ps());
            continue;
        }
        const EightFloats l = to_floats(low, unit), h = to_floats(high, unit);
        SixteenFloats values = N == 3 ? __builtin_shufflevector(l, h, 0, 1, 2, 4, 5, 6, 8, 9, 10,
                                                                12, 13, 14, -1, -1, -1, -1)
                                      : __builtin_shufflevector(l, h, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                                                10, 11, 12, 13, 14, 15);
        __mmask16 changed = mask;
        if (!defines) {  // a value of zero changes nothing, not even the sign of a zero
            changed &= _mm512_cmp_ps_mask((__m512)values, _mm512_setzero_ps(), _CMP_NEQ_UQ);
            values += (SixteenFloats)_mm512_maskz_loadu_ps(mask, to);
        }
        _mm512_mask_storeu_ps(to, changed, (__m512)values);
    }
    return e;
}

// N components in f32 of elements begin .. end-1.
template <int N>
void add_group(TotalsTarget t, Sources sources, std::int64_t begin, std::int64_t end) {
    float* const target = t.numbers<float>();
    const double unit = std::ldexp(1.0, -t.scale.high_bits);
    std::int64_t e = begin;
    if (t.stride == padded(N) && t.binding.element_stride == N && t.binding.component_stride == 1) {
        if (has_avx512()) e = add_blocks<N>(sources, unit, t.defines, target, e, end);
        if (N < 3)
            for (constexpr int step = 4 / N; e + step <= end; e += step)
                add_values<4>(take_totals<4>(sources, e * N), unit, t.defines, target + e * N);
    }
    for (; e < end; ++e) {
        const Integers total = take_totals<padded(N)>(sources, e * t.stride);
        float* to = target + e * t.binding.element_stride;
        if (t.binding.component_stride == 1) {
            add_values<N>(total, unit, t.defines, to);
        } else if (t.defines || !is_zero(total)) {
            float values[4] = {};
            add_values<4>(total, unit, true, values);
            for (int c = 0; c < N; ++c) {
                float& x = to[c * t.binding.component_stride];
                if (t.defines)
                    x = values[c];
                else if (values[c] != 0)
                    x += values[c];
            }
        }
    }
}

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

// The double nearest to an integer, ties to even: its upper 64 bits, of which the last one is set
// where a bit was cut off, round as the whole does.
double nearest(Wide x) {
    const bool negative = x < 0;
    const UnsignedWide magnitude =
        negative ? -static_cast<UnsignedWide>(x) : static_cast<UnsignedWide>(x);
    const int cut = 64 - std::countl_zero(static_cast<std::uint64_t>(magnitude >> 64));
    auto upper = static_cast<std::uint64_t>(magnitude >> cut);
    upper |= (magnitude & ((UnsignedWide{1} << cut) - 1)) != 0 ? 1 : 0;
    const double value = static_cast<double>(upper) *
                         std::bit_cast<double>(static_cast<std::uint64_t>(1023 + cut) << 52);
    return negative ? -value : value;
}

// fixed_value() in f64, with the factor ready; calls the function if the result may be subnormal.
struct WideValue {
    explicit WideValue(const FixedScale& s)
        : scale(s),
          normal(std::abs(s.high_bits + s.low_bits) <= 1000),
          unit(normal ? std::ldexp(1.0, -s.high_bits - s.low_bits) : 0) {}
    double operator()(std::int64_t high, std::int64_t low) const {
        if (!normal) return fixed_value(high, low, scale, ir::Type::f64);
        return nearest((static_cast<Wide>(high) << scale.low_bits) + low) * unit;
    }
    FixedScale scale;
    bool normal;
    double unit;
};

// As add_group, in f64.
template <int N>
void add_wide_group(TotalsTarget t, Sources sources, std::int64_t begin, std::int64_t end) {
    double* const target = t.numbers<double>();
    const WideValue value(t.scale);
    for (std::int64_t e = begin; e < end; ++e) {
        const Integers high = take_totals<padded(N)>(sources, e * t.stride);
        const Integers low = take_totals<padded(N)>(sources, e * t.stride + t.limb);
        const bool zero = is_zero(high | low);
        if (zero && !t.defines) continue;
        double* const to = target + e * t.binding.element_stride;
        for (int c = 0; c < N; ++c) {
            const double x = zero ? 0 : value(high[c], low[c]);
            if (t.defines)
                to[c * t.binding.component_stride] = x + 0.0;  // no -0
            else if (x != 0)
                to[c * t.binding.component_stride] += x;
        }
    }
}

using Add = void (*)(TotalsTarget, Sources, std::int64_t, std::int64_t);
constexpr Add add_f32[] = {add_group<1>, add_group<2>, add_group<3>, add_group<4>};
constexpr Add add_f64[] = {add_wide_group<1>, add_wide_group<2>, add_wide_group<3>,
                           add_wide_group<4>};

}  // namespace

void add_totals(const TotalsTarget& target, Sources sources, std::int64_t begin, std::int64_t end) {
    const auto& add = target.type == ir::Type::f64 ? add_f64 : add_f32;
    add[group_size(target.components, target.group) - 1](target, sources, begin, end);
}

}  // namespace hindcast::backend::cpu
