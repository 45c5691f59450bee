// The kernels of the library: those of all coverage scenes, as their launches bind them, and those
// that are published, in all their forms. Every op names a parameter that is there, and every
// parameter that an op names is bound to an array of its type.
#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <utility>

#include "engine/ad/differentiate.hpp"
#include "engine/document/document.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/model/published_kernel.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/module_coverage.hpp"

using namespace hindcast;
using namespace hindcast::test;
using ir::Kernel;

namespace {

constexpr int large = 4000;  // ops: second derivatives of such kernels take seconds

// The parameters that an op of a region names, or a launch parameter that one takes.
std::set<int> named(const Kernel& kernel) {
    std::set<int> found;
    const auto take = [&](ir::Value v) {
        if (v >= 0 && kernel.op(v).code == ir::OpCode::parameter) found.insert(kernel.op(v).symbol);
    };
    for (const ir::Region& region : kernel.regions) {
        for (const ir::Value v : region.yields) take(v);
        for (const ir::Value v : region.ops) {
            const ir::Op& op = kernel.op(v);
            for (const ir::Value operand : op.operand) take(operand);
            if (op.nest >= 0)
                for (const ir::Value init : kernel.nest(op).inits) take(init);
            if (op.symbol >= 0) found.insert(op.symbol);
        }
    }
    return found;
}

void check_names(const Kernel& kernel) {
    ir::verify(kernel, "a look at it");
    std::set<std::string> names;
    for (const ir::Parameter& p : kernel.parameters) CHECK(names.insert(p.name).second);
    for (const int p : named(kernel)) {
        REQUIRE(p >= 0);
        REQUIRE(p < static_cast<int>(kernel.parameters.size()));
    }
}

void check_bound(const Launch& launch, Direction direction) {
    CAPTURE(launch.description());
    CAPTURE(name_of(direction));
    const Launch::Replay replay = launch.replay(direction);
    const Kernel& kernel = replay.kernel();
    check_names(kernel);
    REQUIRE(replay.arrays().size() == kernel.parameters.size());
    for (const int n : named(kernel)) {
        const auto p = static_cast<std::size_t>(n);
        const ir::Parameter& parameter = kernel.parameters[p];
        CAPTURE(parameter.name);
        const Array& array = replay.arrays()[p];
        REQUIRE(static_cast<bool>(array));
        CHECK(array.type() == ir::memory_type(parameter));
        if (ir::is_single(parameter))
            CHECK(array.size() == parameter.components);
        else
            CHECK(array.components() == parameter.components);
        const bool own =
            parameter.access == ir::Access::write || parameter.access == ir::Access::read_write;
        if (own) CHECK(array.elements() >= launch.items());
    }
}

// Its options in all combinations of choices and booleans, other numbers at their least.
std::vector<document::Node> forms(const model::PublishedKernel& kernel) {
    using document::Node;
    std::vector<Node> all{Node::object()};
    for (const model::Field& f : kernel.options) {
        std::vector<Node> values;
        if (f.kind == model::FieldKind::boolean) values = {false, true};
        for (const std::string& word : f.choices) values.emplace_back(word);
        if (f.key == "dimension")
            values = {2, 3};
        else if (f.kind == model::FieldKind::integer && f.fallback_json.empty())
            values = {static_cast<std::int64_t>(f.low)};
        else if (f.key == "surfaces")
            values = {Node::array({"plane", "sphere"})};
        if (values.empty()) continue;
        std::vector<Node> more;
        for (const Node& one : all)
            for (const Node& value : values) {
                more.push_back(one);
                more.back().set(f.key, value);
            }
        all = std::move(more);
    }
    return all;
}

}  // namespace

TEST_CASE(
    "kernels of all coverage scenes: what an op names is there and bound, in every direction") {
    for (const std::string& module : all_modules().modules())
        for (const Scene& scene : coverage_of(module)) {
            if (!can_build(scene)) continue;
            CAPTURE(scene.file().string());
            SimulationOptions options;
            options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
            options.precision = ir::Precision::f64;
            Simulation simulation(scene, all_modules(), options);
            std::vector<Program> programs{simulation.model().prologue(),
                                          simulation.model().step_program()};
            for (const auto& [t, program] : simulation.model().events())
                programs.push_back(program);
            for (const Program& program : programs)
                for (const Launch& launch : program.launches()) {
                    check_bound(launch, Direction::forward);
                    if (!launch.has_derivative()) continue;
                    check_bound(launch, Direction::adjoint);
                    check_bound(launch, Direction::tangent);
                    if (ir::count_ops(launch.kernel()) > large) continue;
                    check_bound(launch, Direction::adjoint_tangent);
                    check_bound(launch, Direction::tangent_tangent);
                }
        }
}

TEST_CASE("published kernels: what an op names is there, in every form, and in derivatives") {
    std::size_t made = 0;
    for (const model::PublishedKernel& kernel : all_modules().kernels()) {
        CAPTURE(kernel.name);
        bool any = false;
        for (const document::Node& options : forms(kernel)) {
            CAPTURE(document::to_line(options));
            std::optional<lang::KernelDef> def;
            try {
                def = model::make_kernel(kernel, options);
            } catch (const Error&) {  // options that do not go together
                continue;
            }
            for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
                const Kernel traced = def->trace(precision);
                check_names(traced);
                REQUIRE(traced.parameters.size() == def->parameters().size());
                for (std::size_t p = 0; p < traced.parameters.size(); ++p)
                    CHECK(traced.parameters[p].name == def->parameters()[p].name);
                // Those that a launch would leave out are gone already.
                CHECK(def->without_unused().parameters().size() == def->parameters().size());
            }
            ++made;
            if (std::exchange(any, true)) continue;  // derivatives of one form
            const Kernel traced = def->trace(ir::Precision::f64);
            const Kernel back = ad::adjoint(traced);
            for (const Kernel& derived : {back, ad::tangent(traced), ad::tangent(back)})
                check_names(derived);
        }
        CHECK(any);
    }
    CHECK(made > all_modules().kernels().size());
}
