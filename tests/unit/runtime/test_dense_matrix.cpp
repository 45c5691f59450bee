// The dense factorization inside kernels: solutions against the matrix itself, and what it finds of
// matrices that are not positive definite, with different ones side by side in lanes.
#include "engine/runtime/minimization/dense/dense_matrix.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/random.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

// One matrix and one right-hand side for each item.
KernelDef solve(int n) {
    return kernel("solve", {"a", "b", "shift", "x", "kind", "unknown"},
                  [n](Int i, Read<Float> a, Read<Float> b, Param<Float> shift, WriteSlice<Float> x,
                      Write<Int> kind, Write<Int> unknown) {
                      const dense::DenseMatrix h(n, n + 2);
                      h.clear();
                      for_(0, n, [&](Int r) {
                          for_(0, n, [&](Int c) { h.add(r, c, a[(i * n + r) * n + c]); });
                      });
                      const LocalArray v(n);
                      for_(0, n, [&](Int r) { v.put(r, b[i * n + r]); });
                      const dense::DenseMatrix::Finding found = h.factorize(shift);
                      h.solve(shift, v);
                      for_(0, n, [&](Int r) { x.store_once(i * n + r, v[r]); });
                      kind[i] = found.kind;
                      unknown[i] = found.unknown;
                  });
}

struct Found {
    std::vector<double> x, kind, unknown;
};
Found run(const std::shared_ptr<Device>& device, int n, const std::vector<double>& a,
          const std::vector<double>& b, double shift = 0) {
    const std::int64_t items = static_cast<std::int64_t>(b.size()) / n;
    const Array x(ir::Type::f64, {items * n}), kind(ir::Type::i32, {items}),
        unknown(ir::Type::i32, {items});
    Launch(device, solve(n), ir::Precision::f64, items,
           {test::array(a), test::array(b), shift, x, kind, unknown})
        .forward()
        .run();
    device->synchronize();
    return {x.to_doubles(), kind.to_doubles(), unknown.to_doubles()};
}

}  // namespace

TEST_CASE("dense matrices: solutions solve, with the same bits in every lane") {
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 11}) {
        CAPTURE(n);
        const int items = 5;
        const Random random(static_cast<std::uint64_t>(n));
        std::uint64_t drawn = 0;
        std::vector<double> a, b;
        for (int i = 0; i < items; ++i) {
            // G G^T + (1 + i) I
            std::vector<double> g(static_cast<std::size_t>(n * n));
            for (double& v : g) v = random.uniform(drawn++, -1, 1);
            for (int r = 0; r < n; ++r)
                for (int c = 0; c < n; ++c) {
                    double sum = r == c ? 1 + i : 0;
                    for (int k = 0; k < n; ++k)
                        sum += g[static_cast<std::size_t>(r * n + k)] *
                               g[static_cast<std::size_t>(c * n + k)];
                    a.push_back(sum);
                }
            for (int r = 0; r < n; ++r) b.push_back(random.uniform(drawn++, -1, 1));
        }
        std::vector<double> bits;
        for (const auto& device : test::devices()) {
            CAPTURE(device->describe());
            for (const double shift : {0.0, 2.5}) {
                const Found found = run(device, n, a, b, shift);
                for (int i = 0; i < items; ++i) {
                    CHECK(found.kind[static_cast<std::size_t>(i)] == 0);
                    for (int r = 0; r < n; ++r) {
                        double sum = shift * found.x[static_cast<std::size_t>(i * n + r)];
                        for (int c = 0; c < n; ++c)
                            sum += a[static_cast<std::size_t>((i * n + r) * n + c)] *
                                   found.x[static_cast<std::size_t>(i * n + c)];
                        CHECK(
                            sum ==
                            doctest::Approx(b[static_cast<std::size_t>(i * n + r)]).epsilon(1e-13));
                    }
                }
                if (shift != 0) continue;
                if (bits.empty()) bits = found.x;
                CHECK(found.x == bits);
                // Alone.
                for (int i = 0; i < items; ++i) {
                    const auto of = [&](const std::vector<double>& list, int size) {
                        return std::vector<double>(list.begin() + i * size,
                                                   list.begin() + (i + 1) * size);
                    };
                    CHECK(run(device, n, of(a, n * n), of(b, n)).x == of(found.x, n));
                }
            }
        }
    }
}

TEST_CASE("dense matrices: what is not positive definite is found, and where") {
    const double e = 1e-16;
    const std::vector<double> a{
        4,  2, 0, 2, 3,   0, 0, 0, 1,      // positive
        1,  2, 0, 2, 1,   0, 0, 0, 1,      // indefinite: 1 - 4 at the second
        -1, 0, 0, 0, 1,   0, 0, 0, 1,      // at the first
        1,  1, 0, 1, 1,   0, 0, 0, 1,      // singular: 1 - 1
        1,  0, 0, 0, 1,   1, 0, 1, 1 + e,  // singular to rounding at the third
        1,  0, 0, 0, 0,   0, 0, 0, 1,      // a zero
        1,  0, 0, 0, NAN, 0, 0, 0, 1,      // not a number
    };
    const std::vector<double> b(21, 1.0);
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Found found = run(device, 3, a, b);
        CHECK(found.kind == std::vector<double>{0, 1, 1, 2, 2, 2, 1});
        CHECK(found.unknown == std::vector<double>{-1, 1, 0, 1, 2, 1, 1});
    }
}
