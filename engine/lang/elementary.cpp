// Elementary functions in the kernel language. Each is: reduce the argument exactly, evaluate a
// polynomial, undo the reduction with one rounding, then select the special values of C99 Annex F.
// Products are fused where fma is written and nowhere else. Values that need more than one word are
// pairs; the rounding error of p = a*b is fma(a, b, -p). Signs of zero survive because small
// quantities are subtracted as +0, never added.
//
// Start at Expansion::record, at the end; the comments above the functions give the mathematics.
#include "engine/lang/elementary.hpp"

#include <limits>

#include "engine/lang/elementary_constants.hpp"

namespace hindcast::lang {

namespace {

// NaN stays NaN.
Float limited(const Float& x, double lowest, double highest) {
    const Float above = select(x < lowest, lowest, x);
    return select(x > highest, highest, above);
}
template <std::size_t N>
Float polynomial(const Float& x, const double (&c)[N]) {
    Float p = c[N - 1];
    for (std::size_t k = N - 1; k-- > 0;) p = fma(p, x, c[k]);
    return p;
}

// high + low, |low| <= ulp(high) / 2 or little more.
struct Pair {
    Float high, low;
};
Pair sum(const Float& a, const Float& b) {  // |a| >= |b| or a = 0: exact
    const Float high = a + b;
    return {high, (a - high) + b};
}
// n / d, corrected by its remainder; 0 / d keeps the sign of n.high.
Pair quotient(const Pair& n, const Pair& d) {
    const Float inverse = 1 / d.high, q = n.high * inverse;
    const Float remainder = fma(q, d.high, -n.high) + fma(q, d.low, -n.low);
    return {q, -remainder * inverse};
}

// e^(x + tail) = 2^k (1 + r + rest), |r| <= ln2/2; `k` holds k + 2 bias.
template <class Bits>
struct Exponential {
    Float r, rest;
    Bits k;
};
// x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); `exponent`: k + bias.
template <class Bits>
struct Split {
    Float f, k;
    Bits exponent;
};
// x = n pi/2 + r - tail, |r| <= pi/4, n modulo 4 in the low bits of `quadrant`.
template <class Bits>
struct Angle {
    Float r, tail;
    Bits quadrant;
};
// asin(s) = s + p, where s = x or, if `large` (|x| > 1/2), s = sqrt((1 - |x|) / 2) and
// asin|x| = pi/2 - 2 asin(s).
struct ArcSine {
    Bool large;
    Float s, p;
};

template <class F>
class Expansion {
public:
    static Float record(ir::OpCode code, const Float& x, const Float& y);

private:
    using Bits = typename F::Bits;
    using Exponential = lang::Exponential<Bits>;
    using Split = lang::Split<Bits>;
    using Angle = lang::Angle<Bits>;
    static constexpr int sign_position = F::real == ir::Type::f32 ? 31 : 63;
    static constexpr std::uint64_t sign_mask = std::uint64_t{1} << sign_position;
    static constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << F::fraction_bits) - 1;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

    static Bits bits(const Float& x) { return bit_cast<Bits>(x, F::whole); }
    static Float real(const Bits& b) { return bit_cast<Float>(b, F::real); }
    static std::uint64_t raw(double constant) { return ir::bits_of(constant, F::real); }
    static Float power_of_two(const Bits& biased_exponent) {
        return real(biased_exponent << F::fraction_bits);
    }
    static Bool is_negative(const Float& x) { return (bits(x) & sign_mask) == sign_mask; }
    // |value| is given, or its sign bit is clear.
    static Float with_sign_of(const Float& x, const Float& value) {
        return real(bits(value) | (bits(x) & sign_mask));
    }
    // Bit 0 of `odd` set: -value.
    static Float negate_if_odd(const Bits& odd, const Float& value) {
        return real(bits(value) ^ (odd << sign_position));
    }

    // ------------------------------------------------------------ exponentials

    // x limited.
    static Exponential exponential(const Float& x, const Float* tail = nullptr) {
        const Float shifted = fma(x, F::log2_e, F::rounder);
        const Float k = shifted - F::rounder;
        const Float high = fma(k, -F::ln2_high, x);  // exact
        const Float low = tail != nullptr ? fma(k, F::ln2_low, -*tail) : k * F::ln2_low;
        const Float r = high - low;
        const Float rest = fma(r * r, polynomial(r, F::exp), (high - r) - low);
        return {r, rest, bits(shifted) + (2 * F::bias - raw(F::rounder))};
    }

    // 2^shift e^(x + tail). Two factors: neither they nor the first product leave the normal range.
    static Float scaled_exp(const Float& x, int shift, const Float* tail = nullptr) {
        const Exponential e = exponential(x, tail);
        const Bits k = e.k + shift;
        const Bits half = k >> 1;
        return (1 + (e.r + e.rest)) * power_of_two(half) * power_of_two(k - half);
    }
    static Float exp(const Float& x) {
        return scaled_exp(limited(x, F::exp_lowest, F::exp_highest), 0);
    }

    // (e^x - 1) / 4 = (2^(k-2) - 1/4) + 2^(k-2) r + 2^(k-2) rest; x limited.
    static Pair quarter_expm1(const Float& x) {
        const Exponential e = exponential(x);
        const Float scale = power_of_two(e.k - (F::bias + 2));
        const Pair p = sum(scale - 0.25, scale * e.r);
        return sum(p.high, fma(scale, e.rest, p.low));
    }
    static Float expm1(const Float& x) {
        const Float y = 4 * quarter_expm1(limited(x, F::expm1_lowest, F::exp_highest)).high;
        return select(abs(x) < F::tiny, x, y);
    }
    // With q = (e^|x| - 1) / 4: sinh = 2 (q + q / (1 + 4q)); the quotient counts only for small x.
    static Float sinh(const Float& x) {
        const Float a = abs(x);
        const Pair q = quarter_expm1(limited(a, 0, F::sinh_highest));
        const Float d = fma(q.high, 4, 1), d_low = fma(q.high, 4, 1 - d);
        const Pair p = quotient(q, {d, fma(q.low, 4, d_low)});
        const Float y = 2 * (q.high + select(a < 40, p.high + (p.low + q.low), 0));
        return with_sign_of(x, select(a < F::tiny, a, y));
    }
    // cosh = h + 1 / (4h), h = e^|x| / 2.
    static Float cosh(const Float& x) {
        const Float h = scaled_exp(limited(abs(x), 0, F::sinh_highest), -1);
        return h + 0.25 / h;
    }
    // With h = (e^2|x| - 1) / 2: tanh = h / (1 + h), which is 1 long before 2|x| = 44.
    static Float tanh(const Float& x) {
        const Float a = abs(x);
        const Pair q = quarter_expm1(limited(2 * a, 0, 44));
        const Pair h = {2 * q.high, 2 * q.low}, d = sum(1, h.high);
        const Pair y = quotient(h, {d.high, d.low + h.low});
        return with_sign_of(x, select(a < F::tiny, a, y.high + y.low));
    }

    // ------------------------------------------------------------ logarithms

    // x positive and normal.
    static Split split(const Float& x) {
        const Bits b = bits(x) + (raw(1) - raw(F::sqrt_half));
        const Bits exponent = b >> F::fraction_bits;
        return {real((b & fraction_mask) + raw(F::sqrt_half)) - 1,
                real(exponent | raw(F::counter)) - (F::counter + F::bias), exponent};
    }
    static Split split_any(const Float& x) {  // also subnormal
        const Bool subnormal = x < F::smallest_normal;
        const int raised = F::fraction_bits + 1;
        Split s = split(select(subnormal, x * power_of_two(Bits(F::bias + raised)), x));
        s.k = s.k - select(subnormal, Float(raised), 0);
        return s;
    }
    // k ln2 + log(1 + f). With s = f / (2 + f), log(1 + f) = 2 atanh(s) = 2s + s R(s^2), which is
    // f - (f^2/2 - s (f^2/2 + R)).
    static Float logarithm(const Float& f, const Float& k) {
        const Float s = f / (f + 2), z = s * s, half_square = (0.5 * f) * f;
        const Float inner = fma(s, fma(z, polynomial(z, F::log), half_square), k * F::ln2_low);
        return fma(k, F::ln2_high, f - (half_square - inner));
    }
    // `y` where x > pole, -infinity at the pole, NaN below, infinity and NaN themselves.
    static Float with_log_specials(const Float& x, double pole, const Float& y) {
        const Float from_pole = select(x == pole, -infinity, select(x < pole, Float(nan), y));
        return select(x < infinity, from_pole, x);
    }
    static Float log(const Float& x) {
        const Split s = split_any(x);
        return with_log_specials(x, 0, logarithm(s.f, s.k));
    }
    // 1 + x = u + c exactly; u = 2^k (1 + f), and f + 2^-k c replaces f.
    static Float log1p(const Float& x) {
        const Float u = x + 1, from_x = u - 1;
        const Float c = (1 - (u - from_x)) + (x - from_x);
        const Split s = split(u);
        const Float f =
            select(x < F::huge, fma(c, power_of_two(2 * F::bias - s.exponent), s.f), s.f);
        return select(abs(x) < F::tiny, x, with_log_specials(x, -1, logarithm(f, s.k)));
    }

    // log x = high + low with about 12 bits more than one word, x > 0 and finite: s = f / (2 + f)
    // in two words, then 2s + s^3 (2/3 + s^2 Q(s^2)), whose terms beyond the first two are small
    // enough for one word.
    static Pair long_log(const Float& x) {
        const Split x_is = split_any(x);
        const Pair s = quotient({x_is.f, 0}, sum(2, x_is.f));
        const Float z = s.high * s.high, z_low = fma(2 * s.high, s.low, fma(s.high, s.high, -z));
        const Pair p = sum(F::two_thirds[0], z * polynomial(z, F::pow));
        const Float v = s.high * z, v_low = fma(s.low, z, fma(s.high, z_low, fma(s.high, z, -v)));
        const Float t = v * p.high;
        const Float t_low =
            fma(v_low, p.high, fma(v, p.low + F::two_thirds[1], fma(v, p.high, -t)));
        const Pair l = sum(2 * s.high, t);
        const Pair y = sum(x_is.k * F::ln2_high, l.high);  // the product is exact
        return {y.high, fma(x_is.k, F::ln2_low, y.low + (l.low + fma(2, s.low, t_low)))};
    }
    // |x|^y = e^(y log |x|), the product in two words. The logarithms of 0, infinity and NaN are
    // -infinity, infinity and NaN.
    static Float pow(const Float& x, const Float& y) {
        const Float a = abs(x);
        const Pair l = long_log(a);
        const Float high = select(a == 0, -infinity, select(a < infinity, l.high, a));
        const Float w = y * high, w_low = fma(y, l.low, fma(y, high, -w));
        const Bool inside = abs(w) < F::exp_highest - F::exp_lowest;
        const Float tail = select(inside, w_low, 0);
        const Float power = scaled_exp(limited(w, F::exp_lowest, F::exp_highest), 0, &tail);
        const Float half_y = 0.5 * y;
        const Bool whole = floor(y) == y, odd = whole && floor(half_y) != half_y;
        const Float of_sign = select(odd && is_negative(x), -power, power);
        const Float of_domain = select(x < 0 && a < infinity && !whole, Float(nan), of_sign);
        const Bool one = y == 0 || x == 1 || (a == 1 && abs(y) == infinity);
        return select(one, Float(1), of_domain);
    }

    // |x| = 2^(3q + e) m with e = 0, 1, 2, and a = 2^e m. y = a w^2 with w = a^(-1/3), then a
    // Newton step for y^3 = a.
    static Float cbrt(const Float& x) {
        constexpr int to_multiple = (3 - F::bias % 3) % 3, bias_third = (F::bias + to_multiple) / 3;
        const Float magnitude = abs(x);
        const Bool subnormal = magnitude < F::smallest_normal;
        const Bits b = bits(
            select(subnormal, magnitude * power_of_two(Bits(F::bias + F::cbrt_shift)), magnitude));
        const Bits exponent = (b >> F::fraction_bits) + to_multiple;
        const Bits q = (exponent * 43691) >> 17;  // a third of any exponent, rounded down
        const Bits e = exponent - q * 3;
        const Float m = real((b & fraction_mask) | raw(1)), a = m * power_of_two(e + F::bias);
        const Float root = select(
            e == 0, Float(1), select(e == 1, Float(0x1.965fea53d6e3dp-1), 0x1.428a2f98d728bp-1));
        Float w = polynomial(m, F::inverse_cbrt) * root;
        if (F::refine_inverse_cbrt) {  // h = 1 - a w^3; w (1 - h)^(-1/3) to the second order
            const Float h = fma(-(a * w), w * w, 1);
            w = fma(w * h, fma(h, 2.0 / 9, 1.0 / 3), w);
        }
        const Float square = w * w, y = a * square;
        const Float corrected = fma(fma(-(y * y), y, a), square * (1.0 / 3), y);
        const Float lowered = select(subnormal, Float(F::cbrt_lower), 1);
        const Float scaled = corrected * power_of_two(q + (F::bias - bias_third)) * lowered;
        return select(0 < magnitude && magnitude < infinity, with_sign_of(x, scaled), x);
    }

    // ------------------------------------------------------------ circular functions

    // Cody and Waite with pi/2 in three words. The first fma is exact because its result has few
    // enough bits. Angles beyond the limit count as 0.
    static Angle angle(const Float& x) {
        const Float a = select(abs(x) <= F::trigonometric_limit, x, x - x);  // infinity: NaN
        const Float shifted = fma(a, F::two_over_pi, F::rounder);
        const Float n = shifted - F::rounder;
        const Float high = fma(n, -F::half_pi[0], a), product = n * F::half_pi[1];
        const Float first = high - product;
        const Float lost = (product - (high - first)) + fma(n, F::half_pi[1], -product);
        const Float rest = fma(n, F::half_pi[2], lost);
        const Float r = first - rest;
        return {r, rest - (first - r), bits(shifted)};
    }
    // sin(r - tail) = r - (what is returned here).
    static Float below_sine(const Angle& a, const Float& z) {
        return fma(a.r * z, polynomial(z, F::sin), a.tail);
    }
    // cos(r) = 1 + z (what is returned here).
    static Float cosine_slope(const Float& z) { return fma(z, polynomial(z, F::cos), -0.5); }
    static Float sin_or_cos(const Float& x, bool cosine) {
        const Angle a = angle(x);
        const Float z = a.r * a.r;
        const Float s = a.r - below_sine(a, z), c = fma(z, cosine_slope(z), 1);
        const Bool odd = (a.quadrant & 1) == 1;
        const Bits turned = cosine ? a.quadrant + 1 : a.quadrant;
        return negate_if_odd(turned >> 1, cosine ? select(odd, s, c) : select(odd, c, s));
    }
    // sin / cos, or -cos / sin in odd quadrants, each in two words.
    static Float tan(const Float& x) {
        const Angle a = angle(x);
        const Float z = a.r * a.r, slope = cosine_slope(z);
        const Float below = below_sine(a, z), s = a.r - below, s_low = (a.r - s) - below;
        const Float c = fma(z, slope, 1), c_low = fma(a.tail, a.r, fma(z, slope, 1 - c));
        const Bool odd = (a.quadrant & 1) == 1;
        const Pair y = quotient({select(odd, c, s), select(odd, c_low, s_low)},
                                {select(odd, s, c), select(odd, s_low, c_low)});
        return negate_if_odd(a.quadrant, y.high + y.low);
    }

    static ArcSine arc_sine(const Float& x) {
        const Float a = abs(x);
        const Bool large = a > 0.5;
        const Float z = select(large, 0.5 * (1 - a), a * a);  // negative beyond 1: the root is NaN
        const Float s = select(large, sqrt(z), x);
        return {large, s, (s * z) * polynomial(z, F::asin)};
    }
    static Float asin(const Float& x) {
        const ArcSine t = arc_sine(x);
        const Pair y = sum(F::half_pi[0], -2 * t.s);
        return select(t.large, with_sign_of(x, y.high + ((y.low + F::half_pi[1]) - 2 * t.p)),
                      t.s + t.p);
    }
    static Float acos(const Float& x) {
        const ArcSine t = arc_sine(x);
        const Float complement = F::half_pi[0] - (t.s + (t.p - F::half_pi[1]));
        return select(t.large, 2 * select(x < 0, complement, t.s + t.p), complement);
    }
    // t = the lesser of |y|, |x| over the greater; the octant says from which multiple of pi/2 the
    // angle is counted.
    static Float atan2(const Float& y, const Float& x) {
        const Float vertical = abs(y), horizontal = abs(x);
        const Bool steep = horizontal < vertical, left = is_negative(x), backward = steep ^ left;
        const Float n = select(steep, horizontal, vertical);
        const Float d = select(steep, vertical, horizontal);
        const Float t =
            select(n == d, select(d == 0, Float(0), 1), n / d);  // also of two infinities
        const Float z = t * t, p = (t * z) * polynomial(z, F::atan);
        const auto origin = [&](double half_pi) {
            return select(steep, Float(half_pi), select(left, Float(2 * half_pi), 0));
        };
        const Float turned =
            select(backward, -t, t) + (select(backward, -p, p) + origin(F::half_pi[1]));
        return with_sign_of(y, origin(F::half_pi[0]) + turned);
    }
};

template <class F>
Float Expansion<F>::record(ir::OpCode code, const Float& x, const Float& y) {
    switch (code) {
        case ir::OpCode::sin: return sin_or_cos(x, false);
        case ir::OpCode::cos: return sin_or_cos(x, true);
        case ir::OpCode::tan: return tan(x);
        case ir::OpCode::asin: return asin(x);
        case ir::OpCode::acos: return acos(x);
        case ir::OpCode::atan: return atan2(x, 1);
        case ir::OpCode::atan2: return atan2(x, y);
        case ir::OpCode::sinh: return sinh(x);
        case ir::OpCode::cosh: return cosh(x);
        case ir::OpCode::tanh: return tanh(x);
        case ir::OpCode::exp: return exp(x);
        case ir::OpCode::expm1: return expm1(x);
        case ir::OpCode::log: return log(x);
        case ir::OpCode::log1p: return log1p(x);
        case ir::OpCode::pow: return pow(x, y);
        case ir::OpCode::cbrt: return cbrt(x);
        default:
            throw builder().error(std::string("internal: no expansion of ") + ir::info(code).name);
    }
}

}  // namespace

ir::Value expand_elementary(ir::OpCode code, ir::Value a, ir::Value b) {
    const bool contract = builder().contract;
    builder().contract = false;
    const RealScope scope(builder().type_of(a));
    const Float x = Float::from(a), y = b == ir::no_value ? x : Float::from(b);
    const Float result = current_real() == ir::Type::f32
                             ? Expansion<elementary::Single>::record(code, x, y)
                             : Expansion<elementary::Double>::record(code, x, y);
    builder().contract = contract;
    return result.value();
}

}  // namespace hindcast::lang
