// Stencils on the CPU: neighbors that are cut out of whole blocks
// (engine/backend/cpu/emit/stencil.cpp) have the interpreter's bits, and no element is read that no
// item asks for.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/ad/differentiate.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

TEST_CASE("CPU stencils: neighbors on one side, on both, far ones, and those without a middle") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel(
        "neighbors", {"u", "v", "y"}, [](Int i, Read<Float> u, Read<Vec2> v, ReadWrite<Float> y) {
            Float sum = 0.5 * u[i + 47] - u[i + 48] + u[i + 49];
            for (const int offset : {0, 1, 7, 8, 9, 20, 23, 32, 63, 64}) sum = sum * u[i + offset];
            y[i] = y[i] + sum + v[i + 16].x() * v[i + 17].x() - v[i + 15].y() * v[i + 16].y();
        });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel forward = k.trace(precision);
        for (const ir::Kernel& kernel : {forward, ad::tangent(forward), ad::adjoint(forward)})
            for (const int items : {1, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 129, 500})
                for (const Form form : {Form::elements, Form::planes, Form::strided}) {
                    Launch launch(kernel, items);
                    for (const ir::Parameter& p : kernel.parameters) {
                        if (p.name[0] == 'y') continue;
                        const int elements = items + (p.name[0] == 'u' ? 64 : 17);
                        std::vector<double> values(
                            static_cast<std::size_t>(elements * p.components));
                        for (std::size_t j = 0; j < values.size(); ++j)
                            values[j] = std::sin(1.0 + 3.0 * static_cast<double>(j));
                        launch.set(p.name, values).form(p.name, form);
                    }
                    CHECK(launch.differences(false, {2}) == "");
                }
    }
}

TEST_CASE("CPU stencils: arrays between pages that must not be read") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("between", {"u", "y"}, [](Int i, Read<Float> u, Write<Float> y) {
        y[i] = u[i + 15] + 2.0 * u[i + 16] + 4.0 * u[i + 17];
    });
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const pages =
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    char* const middle = static_cast<char*>(pages) + page;
    mprotect(middle - page, page, PROT_NONE);
    mprotect(middle + page, page, PROT_NONE);
    ThreadPool pool(2);
    const auto run = [&]<class T>(Precision precision, T) {
        T* const first = reinterpret_cast<T*>(middle);  // element 15, the first one read
        const auto elements = static_cast<std::int64_t>(page / sizeof(T)), items = elements - 2;
        for (std::int64_t j = 0; j < elements; ++j) first[j] = static_cast<T>(j + 15);
        for (const int width : {1, 4, 8, 16}) {
            std::vector<T> y(static_cast<std::size_t>(items));
            const backend::Binding bindings[] = {{first - 15, elements + 15, 1, 1, 1},
                                                 {y.data(), items, 1, 1, 1}};
            const auto executable = backend::compile_cpu(k.trace(precision), {.width = width});
            executable->run(bindings, items, {&pool});
            for (std::int64_t i = 0; i < items; ++i)
                REQUIRE(y[static_cast<std::size_t>(i)] == static_cast<T>(7 * i + 115));
        }
    };
    run(Precision::f32, 0.0F);
    run(Precision::f64, 0.0);
    munmap(pages, 3 * page);
}

}  // namespace hindcast::test
