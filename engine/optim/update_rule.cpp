// Code that all update rules share: the choice of a rule, and numbers that survive a document.
#include "engine/optim/update_rule.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "engine/document/read.hpp"

namespace hindcast::optim {

namespace {
constexpr std::size_t most_written = 1000;  // numbers; longer lists are written as hex
constexpr std::string_view hex_prefix = "hex:";
constexpr std::size_t hex_digits = 16;
}  // namespace

bool all_finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool Evaluation::finite() const { return std::isfinite(loss) && all_finite(gradient); }

double norm(std::span<const double> values) {
    double largest = 0, sum = 0;
    for (const double x : values) {
        if (!std::isfinite(x)) return std::fabs(x);
        largest = std::max(largest, std::fabs(x));
    }
    if (largest == 0) return 0;
    // A power of two: scaling is exact.
    const int exponent = std::clamp(std::ilogb(largest), -1000, 1000);
    for (const double x : values) sum += std::ldexp(x, -exponent) * std::ldexp(x, -exponent);
    return std::ldexp(std::sqrt(sum), exponent);
}

document::Node exact_numbers(std::span<const double> values) {
    if (values.size() <= most_written && all_finite(values)) {
        std::vector<document::Node> items(values.begin(), values.end());
        return document::Node::array(std::move(items));
    }
    std::string text(hex_prefix);
    text.reserve(text.size() + values.size() * hex_digits);
    for (const double x : values) {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
        for (int shift = 60; shift >= 0; shift -= 4)
            text += "0123456789abcdef"[(bits >> shift) & 15];
    }
    return text;
}

std::vector<double> exact_numbers_of(const document::Node& node, std::size_t count) {
    if (!node.is_string()) return document::numbers_of(node, count);
    const std::string_view text = node.string();
    const auto refuse = [&] {
        throw document::fault(node, "expected the bits of " + std::to_string(count) + " numbers")
            .remedy("write a list of numbers, or \"hex:\" and 16 hexadecimal digits for each");
    };
    if (!text.starts_with(hex_prefix) || text.size() != hex_prefix.size() + count * hex_digits)
        refuse();
    std::vector<double> values(count);
    for (std::size_t k = 0; k < count; ++k) {
        const char* first = text.data() + hex_prefix.size() + k * hex_digits;
        std::uint64_t bits = 0;
        const auto result = std::from_chars(first, first + hex_digits, bits, 16);
        if (result.ec != std::errc() || result.ptr != first + hex_digits) refuse();
        values[k] = std::bit_cast<double>(bits);
    }
    return values;
}

std::unique_ptr<UpdateRule> make_rule(const Settings& settings, const Variables& variables,
                                      const std::shared_ptr<Device>& device,
                                      const HessianProduct& hessian) {
    if (uses_hessian(settings.type)) return make_newton_rule(settings, variables, device, hessian);
    if (settings.type == RuleType::lbfgs) return make_lbfgs_rule(settings, variables, device);
    return derivative_free(settings.type) ? make_search_rule(settings, variables, device)
                                          : make_gradient_rule(settings, variables, device);
}

}  // namespace hindcast::optim
