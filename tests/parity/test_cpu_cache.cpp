// Compiled code on disk and in memory: what is damaged or foreign is compiled again, and never
// crashes.
#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/backend/jit/code_cache.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/backend/jit/object_code.hpp"
#include "engine/base/files.hpp"
#include "engine/base/log.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

namespace fs = std::filesystem;
using namespace lang;

namespace {

const KernelDef scale = kernel("scale", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Vec3> y) {
    y[i] = sin(x[i].y()) * x[i] + Vec3(0.5, 1.5, 2.5);
});

// With what the cache on disk has.
std::vector<std::vector<ir::Bits>> run_scale() {
    backend::drop_kept_code();
    Launch launch(scale.trace(ir::Precision::f32), 20);
    return launch.run(*backend::compile_cpu(launch.kernel()));
}

void overwrite(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
}

}  // namespace

TEST_CASE("kernels of the same text are compiled once and share their code") {
    HINDCAST_NEEDS_LLVM();
    const Environment none("HINDCAST_CACHE", "");
    const auto launch_of = [](const char* name, double number) {
        const KernelDef def =
            kernel(name, {"x", "y"}, [number](Int i, Read<Vec3> x, Write<Vec3> y) {
                y[i] = x[i] * number - Vec3(0.625, 1.375, 2.125);
            });
        return Launch(def.trace(ir::Precision::f32), 20);
    };
    const auto compiled = [] { return backend::code_statistics().compiled; };
    const std::int64_t before = compiled();
    Launch first = launch_of("affine", 0.8125);
    const auto held = backend::compile_cpu(first.kernel());
    const auto expected = first.run(*held);
    const std::int64_t one = compiled() - before;
    CHECK(one > 0);
    std::vector<std::shared_ptr<backend::Executable>> others;
    for (int k = 0; k < 5; ++k) {
        Launch again = launch_of("affine", 0.8125);
        others.push_back(backend::compile_cpu(again.kernel()));
        CHECK(again.run(*others.back()) == expected);
    }
    CHECK(compiled() - before == one);
    // A while longer than any of them is held.
    const auto last = [&] {
        Launch again = launch_of("affine", 0.6875);
        again.run(*backend::compile_cpu(again.kernel()));
        return compiled();
    };
    CHECK(last() - before == 2 * one);
    CHECK(last() - before == 2 * one);
    backend::drop_kept_code();
    CHECK(last() - before == 3 * one);
    Launch other = launch_of("affine", 0.8);
    CHECK(other.run(*backend::compile_cpu(other.kernel())) != expected);
    CHECK(compiled() - before == 4 * one);
}

TEST_CASE("kernels that take long to compile run before they are optimized, with the same bits") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef def = kernel("long", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Vec3> y) {
        Vec3 v = x[i];
        for (int k = 1; k < 400; ++k)
            v = cross(v, Vec3(1, 0.5, k)) / (1.0 + sqrt(dot(v, v) + 0.25 * k)) + 0.125 * v;
        y[i] = v;
    });
    const ir::Kernel traced = def.trace(ir::Precision::f32);
    const auto run = [&](const std::string& without) {
        backend::drop_kept_code();
        Launch launch(traced, 20);
        const auto code =
            backend::compile_cpu(launch.kernel(), {.passes = PassSet::without(without)});
        const auto first = launch.run(*code);
        backend::wait_for_all_code();
        CHECK(launch.run(*code) == first);  // optimized by now
        return first;
    };
    const auto expected = [&] {
        const Cache cache;
        const auto found = run("quick-code");
        CHECK(cache.entries().size() == 1);
        return found;
    }();
    const Cache cache;
    CHECK(run("") == expected);
    const auto entries = cache.entries();
    REQUIRE(entries.size() == 2);  // both are kept
    std::vector<std::uintmax_t> sizes;
    for (const fs::path& entry : entries) sizes.push_back(fs::file_size(entry));
    CHECK(sizes[0] != sizes[1]);
    // Optimized code is found first, and nothing is compiled.
    const std::int64_t before = backend::code_statistics().compiled;
    CHECK(run("") == expected);
    CHECK(backend::code_statistics().compiled == before);
    // The quick one alone: it runs, and is optimized again.
    fs::remove(entries[sizes[0] > sizes[1] ? 1 : 0]);
    CHECK(run("") == expected);
    CHECK(cache.entries().size() == 2);
}

TEST_CASE("kernel cache: an entry is written, used, and replaced when it is damaged in any way") {
    HINDCAST_NEEDS_LLVM();
    Cache cache;
    set_log_listener([](LogLevel, std::string_view) {});
    const auto expected = run_scale();
    REQUIRE(cache.entries().size() == 1);
    const fs::path file = cache.entries()[0];
    const std::string good = read_file(file);
    const auto time = fs::last_write_time(file);
    CHECK(run_scale() == expected);
    CHECK(fs::last_write_time(file) == time);  // read, not written

    std::mt19937 random(3);
    for (int round = 0; round < 40; ++round) {
        std::string bad = good;
        if (round % 4 == 0)
            bad.resize(random() % good.size());
        else if (round % 4 == 1)
            bad += "more";
        else
            bad[round % 4 == 2 ? random() % 64 : random() % good.size()] ^=
                static_cast<char>(1 << random() % 8);
        overwrite(file, bad);
        CHECK(run_scale() == expected);
        CHECK(read_file(file) == good);
    }
    // An intact entry whose code is none.
    const std::string key = file.stem().string();
    backend::write_cached(
        {std::stoull(key.substr(0, 16), nullptr, 16), std::stoull(key.substr(16), nullptr, 16)},
        "no code at all");
    CHECK(run_scale() == expected);
}

TEST_CASE("machine code: perf is told what stands where") {
    HINDCAST_NEEDS_LLVM();
    const fs::path map = fmt::format("/tmp/perf-{}.map", ::getpid());
    fs::remove(map);
    run_scale();
    CHECK(!fs::exists(map));
    const Environment wanted("HINDCAST_PERF_MAP", "1");
    run_scale();
    std::istringstream lines(read_file(map));
    fs::remove(map);
    std::uint64_t begin = 0, size = 0;
    std::string title, more;
    CHECK((lines >> std::hex >> begin >> size >> title));
    CHECK(begin % 4096 == 0);
    CHECK(size > 100);
    CHECK(size < 100'000);
    CHECK(title == "scale");
    CHECK(!(lines >> more));
}

TEST_CASE("kernel cache: a folder that cannot be written costs one warning") {
    HINDCAST_NEEDS_LLVM();
    Cache cache;
    const fs::path blocked = cache.path() / "file";
    overwrite(blocked, "not a folder");
    const Environment within("HINDCAST_CACHE", (blocked / "cache").string());
    CHECK_NOTHROW(run_scale());
    const Environment none("HINDCAST_CACHE", "");
    CHECK_NOTHROW(run_scale());
}

TEST_CASE("kernel cache: a folder that others may write to is not used") {
    HINDCAST_NEEDS_LLVM();
    Cache cache;
    fs::permissions(cache.path(), fs::perms::group_write, fs::perm_options::add);
    run_scale();
    CHECK(fs::is_empty(cache.path()));
    CHECK(!backend::read_cached(Hash128{}));
    fs::permissions(cache.path(), fs::perms::group_write, fs::perm_options::remove);
    run_scale();
    CHECK(!fs::is_empty(cache.path()));
}

TEST_CASE("kernel cache: beyond its size, what was used longest ago goes first") {
    Cache cache;
    const auto now = fs::file_time_type::clock::now();
    const auto put = [&](const std::string& name, int hours) {
        overwrite(cache.path() / name, std::string(100, 'x'));
        fs::last_write_time(cache.path() / name, now - std::chrono::hours(hours));
    };
    put("a.code", 3);
    put("b.code", 1);
    put("c.code", 2);
    put("d.code", 24 * 31);
    put("other.txt", 5);
    const auto there = [&](const char* name) { return fs::exists(cache.path() / name); };
    backend::sweep_cache(cache.path(), 1000);
    CHECK(!there("d.code"));  // older than 30 days
    CHECK((there("a.code") && there("b.code") && there("c.code")));
    backend::sweep_cache(cache.path(), 250);
    CHECK(!there("a.code"));
    CHECK((there("b.code") && there("c.code") && there("other.txt")));
}

TEST_CASE("object code: damaged objects are refused, not loaded") {
    HINDCAST_NEEDS_LLVM();
    const std::string good = backend::compile_llvm(
        backend::cpu_llvm_text(scale.trace(ir::Precision::f32)), backend::CodeKind::object);
    CHECK_NOTHROW(backend::ObjectCode(good, "kernel"));
    CHECK_THROWS_AS(backend::ObjectCode(good, "other"), Error);
    CHECK_THROWS_AS(backend::ObjectCode("", "kernel"), Error);
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        std::string bad = good;
        if (round % 3 == 0) bad.resize(random() % good.size());
        for (unsigned k = random() % 4; k < 4; ++k) {
            // mostly in the tables: the header, and the sections behind the code
            const std::size_t at = random() % 2 == 0 ? random() % 64 : random() % good.size();
            if (at < bad.size()) bad[at] = static_cast<char>(random());
        }
        try {
            const backend::ObjectCode code(bad,
                                           "kernel");  // loading may succeed; it must not crash
        } catch (const Error&) {
        }
    }
}

}  // namespace hindcast::test
