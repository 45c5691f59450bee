// Step rotation (runtime/schedule/step_rotation.hpp): steps that are joined to their neighbors have the bits of
// the launches one by one, and of the interpreter, which joins nothing; whatever ends a range of
// such steps.
#include <doctest/doctest.h>

#include "engine/backend/optional_passes.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;

namespace {

constexpr int cells = 4096;

Int cell_of(const Float& x) { return Int(abs(x) * 64.0) % cells; }

// Points that meet on cells: v and w live from the end of one step to the start of the next.
const KernelDef to_cells =
    kernel("to_cells", {"x", "v", "w", "m", "s"},
           [](Int i, Read<Vec2> x, Read<Vec2> v, Read<Float> w, Read<Float> m, Sum<Vec2> s) {
               const Int cell = cell_of(x[i].x());
               if_(w[i] > 0.0, [&] { s[cell] += v[i] * (m[i] * w[i]); });
               s[(cell + 1) % cells] += x[i] * (0.1 * m[i]) + v[i] * w[i];
           });
const KernelDef on_cells =
    kernel("on_cells", {"s", "k", "u"}, [](Int i, Read<Vec2> s, Param<Float> k, Write<Vec2> u) {
        u[i] = s[i] * k.value() / (1.0 + dot(s[i], s[i]));
    });
const KernelDef on_cells_in_time =
    kernel("on_cells_in_time", {"s", "k", "t", "u"},
           [](Int i, Read<Vec2> s, Param<Float> k, Param<Int> t, Write<Vec2> u) {
               u[i] = s[i] * (k.value() + Float(t.value())) / (1.0 + dot(s[i], s[i]));
           });
const KernelDef from_cells = kernel("from_cells", {"u", "k", "h", "x", "v", "w"},
                                    [](Int i, Read<Vec2> u, Param<Float> k, Param<Float> h,
                                       ReadWrite<Vec2> x, Write<Vec2> v, Write<Float> w) {
                                        const Int cell = cell_of(x[i].x());
                                        const Vec2 velocity =
                                            u[cell] + u[(cell + 1) % cells] * x[i].y();
                                        v[i] = velocity;
                                        w[i] = sin(velocity.x() * k.value()) - 0.2;
                                        x[i] += velocity * h.value() + Vec2(h * x[i].y(), 0.0);
                                    });
// Reads what would else live between two steps only.
const KernelDef look =
    kernel("look", {"v", "w", "k", "z"},
           [](Int i, Read<Vec2> v, Read<Float> w, Param<Float> k, ReadWrite<Float> z) {
               z[i] = z[i] * 0.9 + v[i].x() * w[i] * k.value();
           });
const KernelDef total = kernel(
    "total", {"z", "loss"}, [](Int i, Read<Float> z, Reduce<Float> loss) { loss += z[i] * z[i]; });
const KernelDef start =
    kernel("start", {"p", "x", "v", "w", "m"},
           [](Int i, Read<Vec2> p, Write<Vec2> x, Write<Vec2> v, Write<Float> w, Write<Float> m) {
               x[i] = p[i] * 0.3 + Vec2(0.1, 0.5);
               v[i] = p[i];
               w[i] = p[i].x() * p[i].y();
               m[i] = p[i].y() + 2.0;
           });
const KernelDef measure = kernel("measure", {"x", "v", "loss"},
                                 [](Int i, Read<Vec2> x, Read<Vec2> v, Reduce<Float> loss) {
                                     loss += dot(x[i], x[i]) + v[i].x() * v[i].y();
                                 });

struct Case {
    Precision precision = Precision::f64;
    int items = 300, steps = 9;
    double h = 0.02;  // how fast points go apart
    bool again = true, looks = false;
    bool counts = false;  // what is put off depends on the number of the step
    std::int64_t segment = 0, horizon = 0;
    std::vector<std::int64_t> events = {9};
    // What looks between two steps, in the first and third of four rounds.
    bool watches = false, norms_forward = false, norms_backward = false;
};

struct Result {
    std::vector<double> values;
    std::vector<double> norms;
    std::int64_t seams = 0, seams_back = 0, lasts = 0;
};

Result run(const Case& c, DeviceOptions options) {
    if (!c.again) options.passes = options.passes.without(Pass::rematerialization);
    const auto device = std::make_shared<Device>(options);
    const ir::Type real = ir::real_type(c.precision);
    const auto vectors = [&](int n) {
        return Array(real, std::vector<std::int64_t>{n, 2}, Layout::planar);
    };
    const Array p = vectors(c.items), x = vectors(c.items), v = vectors(c.items),
                w(real, {c.items}), m(real, {c.items}), s(real, {cells, 2}), u(real, {cells, 2}),
                z(real, {c.items}), loss(ir::Type::f64, {1}), k(ir::Type::f64, {1});
    for (int i = 0; i < c.items; ++i) {
        p.set_value(i, 0, 0.37 + 0.6 * ((i * 37) % c.items) / c.items);
        p.set_value(i, 1, -0.4 + 0.9 * ((i * 71) % c.items) / c.items);
    }
    k.fill(0.7);
    const auto launch = [&](const KernelDef& kernel, int n, std::vector<Argument> arguments) {
        return Launch(device, kernel, c.precision, n, std::move(arguments));
    };
    const Array counter = Rollout::make_step_counter();
    Rollout::Parts parts;
    parts.steps = c.steps;
    parts.prologue.add(launch(start, c.items, {p, x, v, w, m}));
    const Launch scatter = launch(to_cells, c.items, {x, v, w, m, s}),
                 update = c.counts ? launch(on_cells_in_time, cells, {s, k, counter, u})
                                   : launch(on_cells, cells, {s, k, u});
    parts.step.add(scatter);
    parts.step.add(update);
    if (c.looks) parts.step.add(launch(look, c.items, {v, w, k, z}));
    parts.step.add(launch(from_cells, c.items, {u, k, c.h, x, v, w}));
    for (const std::int64_t t : c.events)
        parts.events[t].add(launch(measure, c.items, {x, v, loss}));
    if (c.looks) parts.events[c.steps].add(launch(total, c.items, {z, loss}));
    Rollout rollout(device, std::move(parts));
    if (c.counts) rollout.set_step_counter(counter);
    if (c.horizon > 0) rollout.set_horizon(c.horizon);
    if (c.segment > 0) rollout.force_plan(c.segment, 2);
    Result result;
    const auto append = [&](const Array& array) {
        for (const double value : array.to_doubles()) result.values.push_back(value);
    };
    for (int round = 0; round < 4; ++round) {
        const bool looks = round % 2 == 0;
        rollout.profile(round < 2);  // launches that are timed defer nothing
        rollout.record_adjoint_norms(looks && c.norms_forward);
        z.fill(0.1);
        rollout.forward(true,
                        looks && c.watches ? [](std::int64_t) { return true; } : Rollout::Watch());
        for (const Array& a : {x, v, w, loss}) append(a);
        rollout.record_adjoint_norms(looks && c.norms_backward);
        rollout.backward({{loss, 1}});
        if (looks && c.norms_backward) result.norms = rollout.adjoint_norms().norms;
        for (const Array& a : {p.gradient(), k.gradient()}) append(a);
        for (const Array& a : {x, v, w}) append(a);  // as forward left them
    }
    for (const Rollout::Profile& entry : rollout.profiles()) {
        if (entry.launch == "from_cells + to_cells") result.seams += entry.runs;
        if (entry.launch == "to_cells + from_cells") result.seams_back += entry.runs;
        if (entry.launch == "from_cells" && entry.direction == Direction::forward)
            result.lasts += entry.runs;
    }
    return result;
}

void check(const Case& c, std::int64_t seams, std::int64_t seams_back) {
    CAPTURE(c.items);
    CAPTURE(c.segment);
    const Result defined = run(c, {.kind = DeviceKind::interpreter});
    CHECK(defined.seams == 0);
    for (const int threads : {1, 2})
        for (const int width : {0, 1}) {
            CAPTURE(threads);
            CAPTURE(width);
            DeviceOptions options{
                .threads = threads, .width = width, .whole_program = WholeProgramUse::never};
            const Result with = run(c, options);
            CHECK(with.values == defined.values);
            CHECK(with.norms == defined.norms);
            CHECK(with.seams == seams);
            CHECK(with.seams_back == seams_back);
            options.passes = PassSet().without(Pass::rotation);
            const Result without = run(c, options);
            CHECK(without.values == defined.values);
            CHECK(without.seams + without.seams_back == 0);
        }
}

}  // namespace

TEST_CASE("rotation: steps that are joined have the bits of their launches one by one") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const bool again : {true, false})
            for (const int items : {5, 300, 2500}) {
                CAPTURE(again);
                // What the grid overwrites is otherwise saved by the next step's first call.
                const std::int64_t seams = again ? 2 * 8 : 0;
                check({.precision = precision, .items = items, .again = again}, seams, seams);
            }
}

TEST_CASE("rotation: events, checkpoints, a horizon and who looks between steps end a range") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    SUBCASE("events") { check({.events = {0, 1, 4, 9}}, 2 * (0 + 2 + 4), 2 * (0 + 2 + 4)); }
    // Segments of 3 steps: of the first two the forward run keeps nothing.
    SUBCASE("checkpoints") { check({.segment = 3}, 2 * 3 * 2, 2 * 3 * 2); }
    SUBCASE("checkpoints and events") {
        check({.segment = 4, .events = {2, 5, 9}}, 2 * (1 + 1 + 0 + 2), 2 * (1 + 1 + 0 + 2));
    }
    SUBCASE("a counter") { check({.counts = true}, 2 * 8, 2 * 8); }
    SUBCASE("a horizon") { check({.horizon = 4}, 2 * 3, 2 * 3); }
    SUBCASE("a watch") { check({.watches = true}, 8, 2 * 8); }
    SUBCASE("norms") { check({.norms_forward = true, .norms_backward = true}, 8, 8); }
    // What seams did not keep is made once more.
    SUBCASE("norms asked for later") { check({.norms_backward = true}, 2 * 8, 8); }
    SUBCASE("norms asked for later, with checkpoints") {
        check({.segment = 3, .norms_backward = true}, 2 + 3 * 2, 3 * 2);
    }
}

TEST_CASE(
    "rotation: sums that do not fit their history are made again from what was kept for them") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    // Points that go apart: after some steps their sums fill more than a quarter of the lines, and
    // each range ends its seams there.
    for (const double h : {0.02, 4.0, 40.0}) {
        CAPTURE(h);
        const Case c{.items = 2500, .steps = 12, .h = h, .events = {6, 12}};
        const Result defined = run(c, {.kind = DeviceKind::interpreter});
        const Result with = run(c, {.threads = 2, .whole_program = WholeProgramUse::never});
        CHECK(with.values == defined.values);
        const std::int64_t all = 2 * 2 * 5;
        CHECK((with.seams < all) == (h > 1));
        CHECK(with.seams >= 2 * 2);
        CHECK(with.lasts - 2 * 2 >= all - with.seams);
        // Where a step's other launches read those values they are stored, and kept, as usual.
        Case seen = c;
        seen.looks = true;
        const Result stored = run(seen, {.threads = 2, .whole_program = WholeProgramUse::never});
        CHECK(stored.values == run(seen, {.kind = DeviceKind::interpreter}).values);
        CHECK(stored.seams == all);
    }
}

TEST_CASE("rotation: where functions of steps may go back, steps stay apart") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    // The first call reads what the last one defines, and nothing is summed at computed places.
    const KernelDef pull = kernel(
        "pull", {"v", "x", "f"},
        [](Int i, Read<Float> v, Read<Float> x, Write<Float> f) { f[i] = sin(x[i]) * v[i]; });
    const KernelDef near = kernel("near", {"f", "g"}, [](Int i, Read<Float> f, Write<Float> g) {
        g[i] = f[i] - f[select(i > 0, i - 1, 0)];
    });
    const KernelDef push = kernel("push", {"g", "x", "v"},
                                  [](Int i, Read<Float> g, ReadWrite<Float> x, Write<Float> v) {
                                      v[i] = g[i] * 0.5 - x[i] * 0.3;
                                      x[i] += g[i] * 0.1;
                                  });
    const KernelDef square =
        kernel("square", {"x", "loss"},
               [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i] * x[i]; });
    const auto values = [&](WholeProgramUse use, DeviceKind kind) {
        const auto device = std::make_shared<Device>(
            DeviceOptions{.kind = kind, .threads = 1, .whole_program = use});
        constexpr int items = 40;
        const Array x(ir::Type::f64, {items}), v(ir::Type::f64, {items}), f(ir::Type::f64, {items}),
            g(ir::Type::f64, {items}), loss(ir::Type::f64, {1});
        const auto launch = [&](const KernelDef& k, std::vector<Argument> arguments) {
            return Launch(device, k, Precision::f64, items, std::move(arguments));
        };
        Rollout::Parts parts;
        parts.steps = 20;
        parts.step.add(launch(pull, {v, x, f}));
        parts.step.add(launch(near, {f, g}));
        parts.step.add(launch(push, {g, x, v}));
        parts.events[20].add(launch(square, {x, loss}));
        Rollout rollout(device, std::move(parts));
        const bool joined = !rollout.launch_between_steps().empty();
        CHECK(joined == (use == WholeProgramUse::never && kind == DeviceKind::cpu));
        std::vector<double> all;
        for (int round = 0; round < 12; ++round) {  // each kind of run is timed on both ways
            for (int i = 0; i < items; ++i) {
                x.set_value(i, 0, 0.1 * i);
                v.set_value(i, 0, 1.0 - 0.02 * i);
            }
            rollout.forward(true);
            rollout.backward({{loss, 1}});
            for (const Array& a : {x, v, x.gradient(), v.gradient()})
                for (const double value : a.to_doubles()) all.push_back(value);
        }
        return all;
    };
    const std::vector<double> defined = values(WholeProgramUse::never, DeviceKind::interpreter);
    for (const WholeProgramUse use :
         {WholeProgramUse::never, WholeProgramUse::automatic, WholeProgramUse::always})
        CHECK(values(use, DeviceKind::cpu) == defined);
}
