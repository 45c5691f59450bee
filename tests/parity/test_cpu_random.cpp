// Random kernels: nested branches and loops, loads at computed indices, accumulation of every kind.
// The CPU must have the interpreter's bits at every width. HINDCAST_RANDOM_KERNELS sets how many
// are tried.
#include <doctest/doctest.h>

#include <cstdlib>

#include "engine/ad/differentiate.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;

namespace {

constexpr int elements = 24;

// Writes one random program into the builder that is current.
class Author {
public:
    Author(unsigned seed, Int item, Read<Float>& x, Read<Int>& n, Param<Float>& p,
           Accumulate<Vec2>& sum, Accumulate<Float>& own, Reduce<Float>& total)
        : random_(seed),
          item_(item),
          x_(x),
          n_(n),
          sum_(sum),
          own_(own),
          total_(total),
          scattered_(below(3) == 0) {
        reals_ = {Float(x[item]), Float(p), Float(0.5), Float(-1.25)};
        whole_ = {Int(n[item]), Int(item % 7), Int(3)};
    }

    void statements(int count, int depth, bool in_loop) {
        for (int k = 0; k < count; ++k) statement(depth, in_loop);
    }
    Float result() { return reals_[0] + reals_[1] * 0.25 - reals_[2]; }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    Float& real() { return reals_[static_cast<std::size_t>(below(4))]; }
    Int& whole() { return whole_[static_cast<std::size_t>(below(3))]; }
    Int index() { return ((whole() + item_) % elements + elements) % elements; }
    Bool condition() {
        switch (below(4)) {
            case 0: return real() < real();
            case 1: return whole() < whole();
            case 2: return whole() % 3 == 1;
            default: return real() <= 0.25 && whole() > 1;
        }
    }
    Float expression() {
        switch (below(8)) {
            case 0: return real() * 0.5 + real();
            case 1: return real() - real() * real() * 0.125;
            case 2: return min(real(), real());
            case 3: return sqrt(abs(real())) - 0.5;
            case 4: return real() / (abs(real()) + 1.0);
            case 5: return Float(x_[index()]);
            case 6: return select(condition(), real(), real());
            default: return Float(whole()) * 0.125;
        }
    }
    void statement(int depth, bool in_loop) {
        switch (below(depth > 0 ? 12 : 8)) {
            case 0:
            case 1:
            case 2:
            case 3: real() = clamp(expression(), -8.0, 8.0); break;
            case 4: whole() = (whole() * 3 + whole()) % 11; break;
            case 5:
                if (scattered_ || !in_loop) {  // an index that is static or not
                    if (scattered_)
                        sum_[index()] += Vec2(real(), real());
                    else
                        sum_[(item_ * (1 + below(5)) + below(4)) % elements] +=
                            Vec2(real(), real());
                }
                break;
            case 6: own_[item_] += real(); break;
            case 7: total_ += real(); break;
            case 8:
            case 9:
                if_(
                    condition(), [&] { statements(1 + below(3), depth - 1, in_loop); },
                    [&] { statements(below(3), depth - 1, in_loop); });
                break;
            case 10:
                for_(
                    0, abs(whole()) % 5 + below(2),
                    [&](Int j) {
                        whole() = j + below(3);
                        statements(1 + below(3), depth - 1, true);
                    },
                    8);
                break;
            default: {
                Int left = abs(whole()) % 4;
                while_([&] { return left > 0 && real() < 7.0; },
                       [&] {
                           left = left - 1;
                           statements(1 + below(2), depth - 1, true);
                       },
                       6);
            }
        }
    }

    std::mt19937 random_;
    Int item_;
    Read<Float>& x_;
    Read<Int>& n_;
    Accumulate<Vec2>& sum_;
    Accumulate<Float>& own_;
    Reduce<Float>& total_;
    bool scattered_;
    std::vector<Float> reals_;
    std::vector<Int> whole_;
};

}  // namespace

TEST_CASE("CPU: random kernels have the interpreter's bits") {
    HINDCAST_NEEDS_LLVM();
    const char* wanted = std::getenv("HINDCAST_RANDOM_KERNELS");
    const unsigned count = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 25;
    for (unsigned seed = 1; seed <= count; ++seed) {
        CAPTURE(seed);
        const KernelDef k =
            kernel("random" + std::to_string(seed),
                   {"idle", "x", "n", "idle_number", "p", "sum", "idle_sum", "own", "total",
                    "idle_count", "y"},
                   [seed](Int i, Read<Vec3> idle, Read<Float> x, Read<Int> n,
                          Param<Vec2> idle_number, Param<Float> p, Accumulate<Vec2> sum,
                          Accumulate<Float> /*idle_sum*/, Accumulate<Float> own,
                          Reduce<Float> total, Atomic<Int> /*idle_count*/, Write<Float> y) {
                       // Values that are dropped, of parameters that are not used otherwise.
                       (void)idle_number.value();
                       if (seed % 4 == 1) (void)Vec3(idle[i]);
                       Author author(seed, i, x, n, p, sum, own, total);
                       author.statements(12, 3, false);
                       y[i] = author.result();
                   });
        const ir::Kernel forward =
            (seed % 3 == 1 ? k.without_unused() : k)
                .trace(seed % 2 == 0 ? ir::Precision::f32 : ir::Precision::f64);
        std::vector<ir::Kernel> kernels{forward};
        if (seed % 3 == 0) kernels.push_back(ad::adjoint(forward));
        for (const ir::Kernel& kernel : kernels) {
            Launch launch(kernel, elements - static_cast<int>(seed % 8));
            for (const ir::Parameter& p : kernel.parameters)
                if (p.access == ir::Access::read || p.access == ir::Access::accumulate)
                    launch.resize(p.name, elements);
            std::vector<double> x, n;
            for (int i = 0; i < elements; ++i)
                x.push_back(std::sin(i * 1.7) * 2), n.push_back(i * 5 % 9 - 2);
            launch.set("x", x).set("n", n);
            for (const ir::Parameter& p : kernel.parameters)
                if (p.access == ir::Access::read && p.name.find(".a1") != std::string::npos) {
                    std::vector<double> seeds(static_cast<std::size_t>(elements * p.components),
                                              0.75);
                    launch.set(p.name, seeds);
                }
            CHECK(launch.differences(seed % 5 == 0, {2}) == "");
        }
    }
}

}  // namespace hindcast::test
