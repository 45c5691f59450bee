// The pass that makes numbers of sums in fixed point, against the definition (fixed_value), for
// every number of components, layout and type.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/backend/cpu/launch/fixed_sums.hpp"
#include "engine/backend/cpu/launch/fixed_totals.hpp"
#include "engine/backend/plan/plan.hpp"

using namespace hindcast;
using namespace hindcast::backend;
using namespace hindcast::backend::cpu;
using ir::Type;

namespace {

struct Case {
    Type type;
    int components;
    bool planar, defines;
    int sources;
};

// Most sums are zero, as those of a grid are; the others small, large, or canceling.
void check(const Case& c, std::mt19937_64& random) {
    constexpr std::int64_t elements = 150, begin = 3, end = 147;
    CAPTURE(ir::name_of(c.type));
    CAPTURE(c.components);
    CAPTURE(c.planar);
    CAPTURE(c.defines);
    CAPTURE(c.sources);
    const int slots = fixed_slots(c.components), limbs = fixed_limbs(c.type);
    const int stride = slots * limbs;
    const FixedScale scale = c.type == Type::f64 ? FixedScale{30, 40} : FixedScale{30, 0};
    std::vector<std::vector<std::int64_t>> sums(
        static_cast<std::size_t>(c.sources),
        std::vector<std::int64_t>(static_cast<std::size_t>(elements * stride), 0));
    const std::int64_t element_stride = c.planar ? 1 : c.components;
    const std::int64_t component_stride = c.planar ? 160 : 1;
    std::vector<double> wanted(static_cast<std::size_t>(160 * c.components));
    for (std::size_t k = 0; k < wanted.size(); ++k)
        wanted[k] = k % 5 == 0 ? -0.0 : static_cast<float>(static_cast<double>(k) / 7 - 3);
    std::vector<float> f32(wanted.begin(), wanted.end());
    std::vector<double> f64 = wanted;

    const auto number = [&]() -> std::int64_t {
        switch (random() % 5) {
            case 0: return static_cast<std::int64_t>(random() % 2001) - 1000;
            case 1: return static_cast<std::int64_t>(random()) >> 3;
            default: return 0;
        }
    };
    for (std::int64_t e = begin; e < end; ++e)
        for (int k = 0; k < c.components; ++k) {
            std::int64_t total[2] = {0, 0};
            for (int limb = 0; limb < limbs; ++limb) {
                for (auto& source : sums) {
                    const std::int64_t x = e % 7 < 4 ? number() : 0;
                    source[static_cast<std::size_t>(e * stride + limb * slots + k)] = x;
                    total[limb] += x;
                }
                if (random() % 9 == 0) {  // they cancel
                    sums[0][static_cast<std::size_t>(e * stride + limb * slots + k)] -= total[limb];
                    total[limb] = 0;
                }
            }
            const double value = fixed_value(total[0], total[1], scale, c.type);
            double& w = wanted[static_cast<std::size_t>(e * element_stride + k * component_stride)];
            if (c.defines)
                w = value;
            else if (value != 0)
                w = c.type == Type::f64 ? w + value
                                        : static_cast<float>(w) + static_cast<float>(value);
        }

    Binding binding;
    binding.data =
        c.type == Type::f64 ? static_cast<void*>(f64.data()) : static_cast<void*>(f32.data());
    binding.count = elements;
    binding.element_stride = element_stride;
    binding.component_stride = component_stride;
    std::vector<std::int64_t*> sources;
    for (auto& source : sums) sources.push_back(source.data());
    TotalsTarget target{binding, scale, c.type, c.components, 0, stride, slots, c.defines};
    for (; target.group < group_count(c.components); ++target.group) {
        add_totals(target, sources, begin, end);
        for (std::int64_t*& s : sources) s += padded(group_size(c.components, target.group));
    }
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const double got = c.type == Type::f64 ? f64[k] : static_cast<double>(f32[k]);
        REQUIRE(got == wanted[k]);
        REQUIRE(std::signbit(got) == std::signbit(wanted[k]));
    }
    for (const auto& source : sums)
        for (const std::int64_t x : source) REQUIRE(x == 0);
}

}  // namespace

TEST_CASE("totals of fixed point: the definition's values for all components and layouts") {
    std::mt19937_64 random(7);
    for (const Type type : {Type::f32, Type::f64})
        for (int components = 1; components <= 9; ++components)
            for (const bool planar : {false, true})
                for (const bool defines : {false, true})
                    for (const int sources : {1, 2, 5})
                        check({type, components, planar, defines, sources}, random);
}
