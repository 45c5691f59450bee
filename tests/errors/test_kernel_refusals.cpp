// What must not compile, and what the compiler says: each line below is tried with the compiler on
// PATH (or $CXX). A file of correct lines is compiled first; a compiler that cannot do that skips
// the case.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;

namespace {

struct Outcome {
    int status = 0;
    std::string output;
};

Outcome shell(const std::string& command) {
    Outcome outcome;
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return {-1, "popen failed"};
    char buffer[4096];
    while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe))
        outcome.output.append(buffer, n);
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

std::string compiler() {
    const char* const given = std::getenv("CXX");
    return given != nullptr && *given != '\0' ? given : "c++";
}

// A kernel whose body consists of the given lines, the first on line first_line.
constexpr int first_line = 8;
Outcome compile(const test::TemporaryFolder& folder, const std::vector<std::string>& lines) {
    std::ofstream file(folder / "snippet.cpp");
    file << "#include \"engine/ad/grad.hpp\"\n"
            "#include \"engine/lang/kernel.hpp\"\n"
            "using namespace hindcast::lang;\n"
            "const auto k = kernel(\"k\", {\"x\", \"v\", \"p\", \"y\", \"w\", \"f\", \"e\", "
            "\"property\"},\n"
            "    [](Int i, Read<Float> x, Read<Vec3> v, Param<Float> p, ReadWrite<Float> y, "
            "Write<Vec3> w, Accumulate<Float> f, "
            "Reduce<Float> e, Property<Mat2> property) {\n"
            "Float s = 0; Bool c = s < 1; Vec3 a; Mat2 m; Int n = 3;\n"
            "(void)i, (void)s, (void)c, (void)a, (void)m, (void)n, (void)e, (void)p, (void)w, "
            "(void)f, (void)property;\n";
    for (const std::string& line : lines) file << line << "\n";
    file << "});\n";
    file.close();
    return shell("LC_ALL=C " + compiler() + " -std=c++20 -fsyntax-only -I '" +
                 hindcast::test::source_dir + "' '" + (folder / "snippet.cpp").string() + "'");
}

struct Refusal {
    const char* line;
    const char* text = "";  // that the compiler's output must contain somewhere
};

}  // namespace

TEST_CASE(
    "rule 3: what does not compile in a kernel: kept elements, traced conditions, writing what is "
    "read") {
    if (shell(compiler() + " --version").status != 0) HINDCAST_SKIP("no C++ compiler on PATH");
    const test::TemporaryFolder folder;
    const std::vector<std::string> correct = {
        "if_(c, [&] { s = 2; }); s = select(c, s, 1.0);",
        "while_([&] { return s < 1; }, [&] { s += 1; }, 3);",
        "Float old = y[i]; old = 2.0; y[i] = old; y[i] += x[i]; y[i] *= p; f[n] += s; f[n] -= 1;",
        "Bool b = c && !c || s == x[i]; s = Float(i); n = Int(s); s = p; s = p + x[i]; (void)b;",
        "a[1] = s; a.x() += x[i]; a[n] = 2; a = v[i]; w[i] = a; w[i].x() = s; m(0, 1) = s;",
        "m = property[i]; s = v[i].x() + v[i][n];",
        "(void)kernel(\"r\", {\"n\"}, [](Int, Reduce<Vec2>) {});",
        "(void)kernel(\"a\", {\"n\"}, [](Int, Atomic<ULong>) {});",
    };
    const Outcome control = compile(folder, correct);
    if (control.status != 0 && control.output.find("snippet.cpp") == std::string::npos)
        HINDCAST_SKIP(compiler() +
                      " cannot compile the kernel language: " + control.output.substr(0, 300));
    REQUIRE_MESSAGE(control.status == 0, control.output);

    const char* const traced_condition =
        "a traced condition is not known while tracing: use if_(c, ...), while_(...) or select(c, "
        "a, b)";
    const std::vector<Refusal> refusals = {
        // One kind of scalar each, because a compiler says the same thing once.
        {"if (c) s = 1;", traced_condition},
        {"while (s) s = 1;", traced_condition},
        {"s = n ? 1.0 : 2.0;", traced_condition},
        // Elements of written buffers are not values: they cannot be kept.
        {"auto old = y[i]; s = old + 1.0;", "OwnElement"},
        {"auto kept = y[i]; kept = 2.0;"},
        {"auto moved = f[n]; moved += 1.0;", "SumElement"},
        {"auto element = w[i]; auto copy = element;"},
        // An Accumulate is only added to.
        {"f[n] = s;"},
        {"s = f[n];"},
        {"f[n] *= s;"},
        {"s = e;"},
        // What is read is not assigned.
        {"x[i] = s;"},
        {"x[i] += s;"},
        {"v[i] = a;"},
        {"v[i].x() = s;"},
        {"v[i][0] += s;"},
        {"v[i][n] = s;"},
        {"property[i] = m;"},
        {"property[i](0, 0) = s;"},
        {"p.value() = s;"},
        {"(s + s) = 1.0;"},
        // Conversions between traced types are written out.
        {"Bool b = s;"},
        {"Bool b1 = 1;"},
        {"Int k1 = s;"},
        {"Float s1 = n;"},
        {"s = n;"},
        {"s = n + s;"},
        {"Int k2 = 0.5;"},
        {"if_(s, [&] { s = 1; });"},
        {"bool host = c;"},
        {"double host = s;"},
        // Operations that do not exist.
        {"s = s % 2.0;"},
        {"c = c + c;"},
        {"n = sqrt(n);"},
        {"a = a * a;"},
        {"s = a.w();"},
        {"s = v[i] + 1.0;"},
        {"m = Mat<Float, 2, 3>();"},
        {"n = determinant(Mat<Float, 2, 3>());"},
        {"auto g = hindcast::ad::grad(n, s);"},
        // Declarations.
        {"kernel(\"r\", {\"n\"}, [](Int, Reduce<Int>) {});", "Reduce sums reals"},
        {"kernel(\"a\", {\"n\"}, [](Int, Atomic<Float>) {});", "Atomic is for integers"},
        {"kernel(\"b\", {\"n\"}, [](Int, Read<Bool>) {});", "booleans do not stand in buffers"},
        {"kernel(\"i\", {\"n\"}, [](Float, Read<Int>) {});", "first parameter is the work item"},
    };
    std::vector<std::string> lines;
    for (const Refusal& refusal : refusals)
        lines.push_back(std::string("{ ") + refusal.line + " }");
    const Outcome outcome = compile(folder, lines);
    CHECK(outcome.status != 0);
    for (std::size_t k = 0; k < refusals.size(); ++k) {
        INFO(refusals[k].line);
        const std::string place =
            "snippet.cpp:" + std::to_string(first_line + static_cast<int>(k)) + ":";
        bool refused = false;  // by an error at the line, or in a template that the line needs
        for (std::size_t at = outcome.output.find(place); at != std::string::npos;
             at = outcome.output.find(place, at + 1)) {
            const std::string rest = outcome.output.substr(at, outcome.output.find('\n', at) - at);
            refused |= rest.find(" error: ") != std::string::npos ||
                       rest.find("required from here") != std::string::npos ||
                       rest.find("requested here") != std::string::npos;
        }
        CHECK(refused);
        CHECK(outcome.output.find(refusals[k].text) != std::string::npos);
    }
}
