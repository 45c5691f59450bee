#include "engine/backend/cpu/pipeline.hpp"

#include <fmt/core.h>

#include <utility>

#include "engine/backend/cpu/emit/emitter.hpp"
#include "engine/backend/cpu/launch/per_target_launch.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/backend/kernel_stage.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend::cpu {

PreparedKernel prepare(const ir::Kernel& traced, const CompileOptions& options) {
    PreparedKernel kernel;
    kernel.lowered = lang::lower(traced, lang::Lowering::all);
    kernel.fixed = {fixed_point_parameters(traced)};
    kernel.plan = make_plan(kernel.lowered, usual_form(kernel.lowered), options, kernel.fixed);
    if (options.passes.has(Pass::per_target)) kernel.per_target = split_per_target(kernel.plan);
    return kernel;
}

std::vector<std::string> llvm_modules(const PreparedKernel& kernel, const CompileOptions& options) {
    const Plan& plan = kernel.plan;
    const PerTarget& per_target = kernel.per_target;
    if (per_target.groups.empty()) return {emit(plan)};
    std::vector<std::string> texts;
    std::vector<Binding> bindings(plan.kernel.parameters.size());
    for (std::size_t p = 0; p < bindings.size(); ++p)
        bindings[p].element_stride = plan.kernel.parameters[p].components;
    for (const std::vector<int>& group : per_target.groups) {
        TargetLoop loop(plan, group, true,
                        texts.empty() ? per_target.reduced : std::vector<ir::Value>{});
        const Form form = loop.form(loop.bind(bindings.data(), 0, false));
        texts.push_back(
            emit(make_plan(loop.kernel(), form, options, no_fixed_point(loop.kernel()))));
        if (loop.shifted())
            texts.push_back(
                emit(make_plan(loop.inner(), form, options, no_fixed_point(loop.inner()))));
    }
    if (per_target.has_rest)
        texts.push_back(emit(make_plan(per_target.rest, usual_form(per_target.rest), options,
                                       fixed_for(per_target.rest, plan))));
    return texts;
}

namespace {

std::string summations(const Plan& plan) {
    constexpr const char* words[] = {
        "own: to the item's own element", "gathered: terms in scratch memory, then each target",
        "fixed: integers in fixed point, in any order", "atomic: integers, in any order"};
    std::string text;
    for (std::size_t p = 0; p < plan.kernel.parameters.size(); ++p) {
        const ir::Parameter& parameter = plan.kernel.parameters[p];
        if (parameter.access == ir::Access::accumulate || parameter.access == ir::Access::sum)
            text += fmt::format("{}  {}\n", parameter.name,
                                words[static_cast<std::size_t>(plan.summation[p])]);
        if (parameter.access == ir::Access::reduce)
            text += fmt::format("{}  in chunks of {} items, then the chunks\n", parameter.name,
                                reduce_chunk);
    }
    return text;
}

// The loops over targets after each of the passes that change them.
void add_loops(const PreparedKernel& kernel, const CompileOptions& options,
               std::vector<KernelStage>& list) {
    const PerTarget& per_target = kernel.per_target;
    constexpr Pass inside[] = {Pass::shifts, Pass::symmetry};
    for (const std::vector<int>& group : per_target.groups) {
        const bool is_first = &group == per_target.groups.data();
        PassSet on = options.passes;
        for (const Pass pass : inside) on = on.without(pass);
        std::string last;
        const auto add = [&](Pass pass) {
            Plan plan = kernel.plan;
            plan.passes = on;
            const TargetLoop loop(plan, group, true,
                                  is_first ? per_target.reduced : std::vector<ir::Value>{});
            std::string text = ir::print(loop.kernel());
            if (loop.shifted()) text += ir::print(loop.inner());
            if (text == last) return;
            last = text;
            list.push_back({info(pass).name, std::move(text)});
        };
        add(Pass::per_target);
        for (const Pass pass : inside) {
            if (!options.passes.has(pass)) continue;
            on = on.with(pass);
            add(pass);
        }
    }
    if (per_target.has_rest) list.push_back({"left to the items", ir::print(per_target.rest)});
}

}  // namespace

std::vector<KernelStage> stages(const ir::Kernel& traced, const CompileOptions& options) {
    const PreparedKernel kernel = prepare(traced, options);
    std::vector<KernelStage> list = {{"traced", ir::print(traced)},
                                     {"lower", ir::print(kernel.lowered)}};
    if (std::string sums = summations(kernel.plan); !sums.empty())
        list.push_back({"choose sums", std::move(sums)});
    add_loops(kernel, options, list);
    std::vector<std::string> modules = llvm_modules(kernel, options);
    std::string assembly;
    for (const std::string& text : modules) assembly += compile_llvm(text, CodeKind::assembly);
    for (std::string& text : modules) list.push_back({"emit", std::move(text)});
    list.push_back({"compile", std::move(assembly)});
    return list;
}

}  // namespace hindcast::backend::cpu
