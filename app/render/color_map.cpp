// viridis and magma (Smith, van der Walt and Firing, CC0) by polynomials of sixth degree that Matt
// Zucker fitted to them and gave to the public domain; turbo (Mikhailov) by a cubic through 17 of
// its colors, at most 3 of 255 off; coolwarm and purple_orange computed as Kenneth Moreland's
// "Diverging Color Maps for Scientific Visualization" (2009) defines them, in his Msh space;
// cubehelix by the formula of D. A. Green, "A colour scheme for the display of astronomical
// intensity images" (2011), equation 2; gray even in CIE L*, from 5 to 95.
#include "app/render/color_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "app/exchange/srgb.hpp"

namespace hindcast::render {

namespace {

using Rgb = std::array<double, 3>;

constexpr Rgb viridis[] = {{0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
                           {0.1050930431085774, 1.404613529898575, 1.384590162594685},
                           {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
                           {-4.634230498983486, -5.799100973351585, -19.33244095627987},
                           {6.228269936347081, 14.17993336680509, 56.69055260068105},
                           {4.776384997670288, -13.74514537774601, -65.35303263337234},
                           {-5.435455855934631, 4.645852612178535, 26.3124352495832}};

constexpr Rgb magma[] = {{-0.002136485053939582, -0.000749655052795221, -0.005386127855323933},
                         {0.2516605407371642, 0.6775232436837668, 2.494026599312351},
                         {8.353717279216625, -3.577719514958484, 0.3144679030132573},
                         {-27.66873308576866, 14.26473078096533, -13.64921318813922},
                         {52.17613981234068, -27.94360607168351, 12.94416944238394},
                         {-50.76852536473588, 29.04658282127291, 4.23415299384598},
                         {18.65570506591883, -11.48977351997711, -5.601961508734096}};

// 8 bits, at t = k / 16.
constexpr int turbo_points = 17;
constexpr std::array<std::uint8_t, 3> turbo[turbo_points] = {
    {48, 18, 59},   {64, 64, 162},  {70, 107, 227}, {66, 148, 255}, {40, 188, 235}, {24, 221, 194},
    {50, 242, 152}, {109, 254, 98}, {164, 252, 60}, {203, 237, 52}, {236, 209, 58}, {253, 174, 53},
    {251, 129, 34}, {236, 83, 15},  {210, 49, 5},   {172, 23, 1},   {122, 4, 3}};

// Catmull and Rom's cubic through the points; beyond the ends it goes on straight.
Rgb through_turbo(double t) {
    const double x = t * (turbo_points - 1);
    const int k = std::clamp(static_cast<int>(x), 0, turbo_points - 2);
    const double u = x - k;
    Rgb rgb;
    for (std::size_t c = 0; c < 3; ++c) {
        const auto point = [&](int i) { return static_cast<double>(turbo[i][c]); };
        const double p1 = point(k), p2 = point(k + 1);
        const double p0 = k > 0 ? point(k - 1) : 2 * p1 - p2,
                     p3 = k + 2 < turbo_points ? point(k + 2) : 2 * p2 - p1;
        const double slope = p2 - p0, bend = 2 * p0 - 5 * p1 + 4 * p2 - p3,
                     twist = 3 * p1 - p0 - 3 * p2 + p3;
        rgb[c] = (p1 + 0.5 * u * (slope + u * (bend + u * twist))) / 255;
    }
    return rgb;
}

Rgb polynomial(std::span<const Rgb> coefficients, double t) {
    Rgb sum{};
    for (std::size_t k = coefficients.size(); k-- > 0;)
        for (std::size_t c = 0; c < 3; ++c) sum[c] = sum[c] * t + coefficients[k][c];
    return sum;
}

// CIE L*a*b* under D65 from and to sRGB, and Msh: its length, angle from the axis, and hue.
constexpr Rgb white = {0.95047, 1, 1.08883};

Rgb lab_of(const Rgb& rgb) {
    Rgb linear;
    for (std::size_t c = 0; c < 3; ++c) linear[c] = linear_of_srgb(rgb[c]);
    const Rgb xyz = {0.4124564 * linear[0] + 0.3575761 * linear[1] + 0.1804375 * linear[2],
                     0.2126729 * linear[0] + 0.7151522 * linear[1] + 0.0721750 * linear[2],
                     0.0193339 * linear[0] + 0.1191920 * linear[1] + 0.9503041 * linear[2]};
    Rgb f;
    for (std::size_t c = 0; c < 3; ++c) {
        const double x = xyz[c] / white[c];
        f[c] = x > 0.008856 ? std::cbrt(x) : 7.787 * x + 16.0 / 116;
    }
    return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

Rgb rgb_of_lab(const Rgb& lab) {
    const double fy = (lab[0] + 16) / 116;
    const Rgb f = {fy + lab[1] / 500, fy, fy - lab[2] / 200};
    Rgb xyz;
    for (std::size_t c = 0; c < 3; ++c) {
        const double cube = f[c] * f[c] * f[c];
        xyz[c] = white[c] * (cube > 0.008856 ? cube : (f[c] - 16.0 / 116) / 7.787);
    }
    const Rgb linear = {3.2404542 * xyz[0] - 1.5371385 * xyz[1] - 0.4985314 * xyz[2],
                        -0.9692660 * xyz[0] + 1.8760108 * xyz[1] + 0.0415560 * xyz[2],
                        0.0556434 * xyz[0] - 0.2040259 * xyz[1] + 1.0572252 * xyz[2]};
    Rgb rgb;
    for (std::size_t c = 0; c < 3; ++c)
        rgb[c] = linear[c] > 0.0031308 ? 1.055 * std::pow(linear[c], 1 / 2.4) - 0.055
                                       : 12.92 * linear[c];
    return rgb;
}

Rgb msh_of(const Rgb& rgb) {
    const Rgb lab = lab_of(rgb);
    const double m = std::sqrt(lab[0] * lab[0] + lab[1] * lab[1] + lab[2] * lab[2]);
    return {m, std::acos(lab[0] / m), std::atan2(lab[2], lab[1])};
}

Rgb rgb_of_msh(const Rgb& msh) {
    return rgb_of_lab({msh[0] * std::cos(msh[1]), msh[0] * std::sin(msh[1]) * std::cos(msh[2]),
                       msh[0] * std::sin(msh[1]) * std::sin(msh[2])});
}

// The hue that the white middle gets so that the way to it looks straight (Moreland, section 4).
double middle_hue(const Rgb& saturated, double middle) {
    if (saturated[0] >= middle) return saturated[2];
    const double spin = saturated[1] * std::sqrt(middle * middle - saturated[0] * saturated[0]) /
                        (saturated[0] * std::sin(saturated[1]));
    constexpr double third_of_pi = 1.0471975511965976;
    return saturated[2] > -third_of_pi ? saturated[2] + spin : saturated[2] - spin;
}

// Moreland's map between two saturated colors.
Rgb diverging(const Rgb& first, const Rgb& last, double t) {
    const Rgb cool = msh_of(first), warm = msh_of(last);
    const double middle = std::max({cool[0], warm[0], 88.0});
    const Rgb& end = t < 0.5 ? cool : warm;
    const Rgb center = {middle, 0, middle_hue(end, middle)};
    const double s = t < 0.5 ? 2 * t : 2 - 2 * t;  // 0 at the end, 1 in the middle
    Rgb msh;
    for (std::size_t c = 0; c < 3; ++c) msh[c] = (1 - s) * end[c] + s * center[c];
    return rgb_of_msh(msh);
}

// Green's helix around the gray diagonal: start 0.5, -1.5 turns, hue 1, gamma 1.
Rgb cubehelix(double t) {
    const double angle = 2 * std::numbers::pi * (0.5 / 3 + 1 - 1.5 * t);
    const double amplitude = t * (1 - t) / 2;
    const double c = std::cos(angle), s = std::sin(angle);
    return {t + amplitude * (-0.14861 * c + 1.78277 * s),
            t + amplitude * (-0.29227 * c - 0.90649 * s), t + amplitude * 1.97294 * c};
}

Rgb color_of(ColorMap map, double t) {
    switch (map) {
        case ColorMap::viridis: return polynomial(viridis, t);
        case ColorMap::magma: return polynomial(magma, t);
        case ColorMap::turbo: return through_turbo(t);
        case ColorMap::coolwarm: return diverging({0.230, 0.299, 0.754}, {0.706, 0.016, 0.150}, t);
        case ColorMap::cubehelix: return cubehelix(t);
        case ColorMap::gray: return rgb_of_lab({5 + 90 * t, 0, 0});
        case ColorMap::purple_orange:
            return diverging({0.436, 0.308, 0.631}, {0.759, 0.334, 0.046}, t);
    }
    return {};
}

ColorTable make_table(ColorMap map) {
    ColorTable table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const Rgb rgb = color_of(map, static_cast<double>(i) / 255);
        for (std::size_t c = 0; c < 3; ++c)
            table[i][c] =
                static_cast<std::uint8_t>(std::lround(std::clamp(rgb[c], 0.0, 1.0) * 255));
        table[i][3] = 255;
    }
    return table;
}

}  // namespace

const ColorTable& color_table(ColorMap map) {
    static const std::array<ColorTable, color_maps> tables = [] {
        std::array<ColorTable, color_maps> made{};
        for (std::size_t k = 0; k < color_maps; ++k) made[k] = make_table(static_cast<ColorMap>(k));
        return made;
    }();
    return tables[static_cast<std::size_t>(map)];
}

double part_of_range(const std::array<double, 2>& range, bool logarithmic, double value) {
    const auto [low, high] = range;
    if (!(high > low)) return 0.5;
    if (!logarithmic) return std::clamp((value - low) / (high - low), 0.0, 1.0);
    const auto part = [](double size, double least, double most) {
        if (!(size > least)) return 0.0;
        return std::clamp(std::log2(size / least) / std::log2(most / least), 0.0, 1.0);
    };
    if (low < 0 && high > 0) {
        const double least = smallest_log_part * std::max(-low, high);
        return value < 0 ? 0.5 - 0.5 * part(-value, least, std::max(-low, 2 * least))
                         : 0.5 + 0.5 * part(value, least, std::max(high, 2 * least));
    }
    if (high <= 0) return 1 - part(-value, std::max(-high, -smallest_log_part * low), -low);
    return part(value, std::max(low, smallest_log_part * high), high);
}

double number_at(const std::array<double, 2>& range, bool logarithmic, double part) {
    const auto [low, high] = range;
    if (!logarithmic || !(high > low)) return low + part * (high - low);
    const auto size = [](double p, double least, double most) {
        return least * std::pow(most / least, p);
    };
    if (low < 0 && high > 0) {
        const double least = smallest_log_part * std::max(-low, high);
        if (part == 0.5) return 0;
        return part < 0.5 ? -size(1 - 2 * part, least, std::max(-low, 2 * least))
                          : size(2 * part - 1, least, std::max(high, 2 * least));
    }
    if (high <= 0) return -size(1 - part, std::max(-high, -smallest_log_part * low), -low);
    return size(part, std::max(low, smallest_log_part * high), high);
}

Color color_at(ColorMap map, double t) {
    const double clamped = t >= 0 ? std::min(t, 1.0) : 0;
    const auto& entry = color_table(map)[static_cast<std::size_t>(std::lround(clamped * 255))];
    Color color{};
    for (std::size_t c = 0; c < 4; ++c) color[c] = static_cast<float>(entry[c]) / 255.0F;
    return color;
}

}  // namespace hindcast::render
