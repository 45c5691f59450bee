// Constants of the elementary functions, one struct per precision; elementary.cpp is a template
// over them.
//
// A polynomial c[0] + c[1] x + ... minimizes the greatest relative error of the function it serves
// over its interval (Remez exchange in 70 digits), with the coefficients rounded to the precision
// one after another, lowest first, and the rest fitted again. The comments give the error left, as
// a power of two.
#pragma once

#include <cstdint>

#include "engine/lang/scalar.hpp"

namespace hindcast::lang::elementary {

struct Single {
    using Bits = UInt;
    static constexpr ir::Type real = ir::Type::f32, whole = ir::Type::u32;
    static constexpr int fraction_bits = 23, bias = 127;

    static constexpr double smallest_normal = 0x1p-126;
    static constexpr double tiny =
        0x1p-25;  // below it f(x) = x for the odd functions, expm1 and log1p
    static constexpr double huge = 0x1p+25;       // from it on 1 + x = x
    static constexpr double rounder = 0x1.8p+23;  // x + rounder has round(x) in its low bits
    static constexpr double counter = 0x1p+23;    // counter | n = counter + n
    static constexpr double sqrt_half = 0x1.6a09e6p-1;
    static constexpr double log2_e = 0x1.715476p+0;
    static constexpr double ln2_high =
        0x1.62e4p-1;  // 16 bits: its product with an exponent is exact
    static constexpr double ln2_low = 0x1.7f7d1cp-20;
    static constexpr double two_over_pi = 0x1.45f306p-1;
    // Rounded down, so that the second word is positive: n times it is +0 for n = 0.
    static constexpr double half_pi[] = {0x1.921fb4p+0, 0x1.4442d2p-24, -0x1.ee59dap-50};
    static constexpr double two_thirds[] = {0x1.555556p-1, -0x1.555556p-26};

    static constexpr double trigonometric_limit = 0x1p+17;
    static constexpr double exp_lowest = -104, exp_highest = 89;  // beyond: 0, infinity
    static constexpr double expm1_lowest = -18;                   // below: -1
    static constexpr double sinh_highest = 89.5;                  // above: infinity

    // (e^r - 1 - r) / r^2, |r| <= ln2 / 2: 2^-26 of e^r - 1
    static constexpr double exp[] = {0.499999970, 0.166665390, 0.0416677482, 0.00836708769,
                                     0.00138378609};
    // (1 - sin(r) / r) / r^2 in r^2, |r| <= pi/4: 2^-27
    static constexpr double sin[] = {0.166666552, -0.00833218917, 0.000195182758};
    // (cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi/4: 2^-32
    static constexpr double cos[] = {0.0416666456, -0.00138873095, 2.44323273e-5};
    // (asin(s) / s - 1) / s^2 in s^2, |s| <= 1/2: 2^-27
    static constexpr double asin[] = {0.166667521, 0.0749530941, 0.0454691537, 0.0241847374,
                                      0.0421584137};
    // (atan(t) / t - 1) / t^2 in t^2, |t| <= 1: 2^-28
    static constexpr double atan[] = {-0.333332986,  0.199985296,   -0.142640427,
                                      0.109511860,   -0.0840067267, 0.0579124130,
                                      -0.0311349779, 0.0108926212,  -0.00178891106};
    // (2 atanh(s) / s - 2) / s^2 in s^2, |s| <= 3 - sqrt(8): 2^-30
    static constexpr double log[] = {0.666667759, 0.399775773, 0.298710734};
    // ((2 atanh(s) / s - 2) / s^2 - 2/3) / s^2 in s^2: 2^-36
    static constexpr double pow[] = {0.400001526, 0.285470903, 0.234196454};
    // m^(-1/3), 1 <= m < 2: 2^-17
    static constexpr double inverse_cbrt[] = {1.78105652,   -1.56602466, 1.24378002,
                                              -0.597869098, 0.156070337, -0.0170188714};
    static constexpr bool refine_inverse_cbrt = false;
    static constexpr int cbrt_shift =
        24;  // exponent by which subnormals are raised, a multiple of 3,
    static constexpr double cbrt_lower = 0x1p-8;  // and what undoes it
};

struct Double {
    using Bits = ULong;
    static constexpr ir::Type real = ir::Type::f64, whole = ir::Type::u64;
    static constexpr int fraction_bits = 52, bias = 1023;

    static constexpr double smallest_normal = 0x1p-1022;
    static constexpr double tiny = 0x1p-54;
    static constexpr double huge = 0x1p+54;
    static constexpr double rounder = 0x1.8p+52;
    static constexpr double counter = 0x1p+52;
    static constexpr double sqrt_half = 0x1.6a09e667f3bcdp-1;
    static constexpr double log2_e = 0x1.71547652b82fep+0;
    static constexpr double ln2_high = 0x1.62e42fefa38p-1;  // 42 bits
    static constexpr double ln2_low = 0x1.ef35793c76730p-45;
    static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
    static constexpr double half_pi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                         -0x1.f1976b7ed8fbcp-110};
    static constexpr double two_thirds[] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};

    static constexpr double trigonometric_limit = 0x1p+40;
    static constexpr double exp_lowest = -746, exp_highest = 710;
    static constexpr double expm1_lowest = -40;
    static constexpr double sinh_highest = 710.6;

    // 2^-54
    static constexpr double exp[] = {
        0.50000000000000056,   0.16666666666666630,    0.041666666666573586,  0.0083333333333573834,
        0.0013888888932161404, 0.00019841269789176323, 2.4801504726211863e-5, 2.7557346876090161e-6,
        2.7626282795775582e-7, 2.5072953317180051e-8};
    // 2^-57
    static constexpr double sin[] = {0.16666666666666630,    -0.0083333333333218407,
                                     0.00019841269829358522, -2.7557313538508449e-6,
                                     2.5050734387628004e-8,  -1.5895433157892870e-10};
    // 2^-63
    static constexpr double cos[] = {0.041666666666666595,  -0.0013888888888873333,
                                     2.4801587288992887e-5, -2.7557314213560980e-7,
                                     2.0875704834196789e-9, -1.1358716322763484e-11};
    // 2^-55
    static constexpr double asin[] = {
        0.16666666666665408,   0.075000000003371425, 0.044642856828213819,  0.030381959141987994,
        0.022371757924337932,  0.017359706734096862, 0.013885215436005609,  0.012169346332118173,
        0.0065273803548972168, 0.019529925003670501, -0.016226904987571490, 0.031914119371087513};
    // 2^-54
    static constexpr double atan[] = {
        -0.33333333333331860,  0.19999999999755178,    -0.14285714271341024,
        0.11111110678882377,   -0.090909012371819350,  0.076922129467333608,
        -0.066658604674672176, 0.058773082664112630,   -0.052392347734860872,
        0.046739544604197082,  -0.040926484753155030,  0.034067978647792638,
        -0.025827008710918760, 0.016978240738830246,   -0.0091847078804532696,
        0.0038560532356435389, -0.0011641000344661868, 0.00022302865148510532,
        -2.0259191247617468e-5};
    // 2^-59
    static constexpr double log[] = {0.66666666666667351, 0.39999999999409347, 0.28571428743689009,
                                     0.22222198428610912, 0.18183572378637494, 0.15313831459316990,
                                     0.14798266685290715};
    // 2^-73
    static constexpr double pow[] = {0.39999999999999980, 0.28571428571443852, 0.22222222217785165,
                                     0.18181818844722147, 0.15384558370074444, 0.13336267011769140,
                                     0.11675725386878878, 0.11982243855543742};
    // 2^-11
    static constexpr double inverse_cbrt[] = {1.5418872362509954, -0.80996104611646647,
                                              0.31775774584813954, -0.049937061068959919};
    static constexpr bool refine_inverse_cbrt = true;
    static constexpr int cbrt_shift = 54;
    static constexpr double cbrt_lower = 0x1p-18;
};

}  // namespace hindcast::lang::elementary
