#include "engine/backend/cpu.hpp"

#include <vector>

#include "engine/backend/cpu_emit.hpp"
#include "engine/backend/cpu_pulled.hpp"
#include "engine/backend/llvm.hpp"
#include "engine/base/float_environment.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend {

namespace {

using namespace cpu;

// The plan for C-contiguous arrays, and what of it is pulled. `traced`: before it was lowered.
std::pair<Plan, Pulled> usual(const ir::Kernel& lowered, const ir::Kernel& traced,
                              const CompileOptions& options) {
    Plan plan = make_plan(lowered, usual_form(lowered), options, {fixed_point_parameters(traced)});
    Pulled pulled = find_pulled(plan);
    return {std::move(plan), std::move(pulled)};
}

class CpuExecutable final : public Executable {
public:
    CpuExecutable(const ir::Kernel& kernel, const CompileOptions& options)
        : kernel_(kernel),
          whole_(lang::lower(kernel, lang::Lowering::all), options,
                 {fixed_point_parameters(kernel)}) {
        const auto [plan, pulled] = usual(whole_.lowered(), kernel, options);
        if (!pulled.groups.empty()) pulled_ = std::make_unique<PulledCode>(plan, pulled, options);
    }

    const ir::Kernel& kernel() const override { return kernel_; }

    void prepare(const Binding* bindings, std::int64_t items) override {
        if (pulled_ && items >= enough_to_pull)
            pulled_->prepare(bindings, items);
        else
            whole_.variant(bindings, items);
    }

    void run(const Binding* bindings, std::int64_t items, const RunOptions& options) override {
        const FloatEnvironment environment;
        if (pulled_ && items >= enough_to_pull && pulled_->run(bindings, items, options)) return;
        whole_.variant(bindings, items).run(bindings, items, options);
    }

    bool takes_passes() const override { return true; }

private:
    static constexpr std::int64_t enough_to_pull = 64;
    ir::Kernel kernel_;
    Code whole_;
    std::unique_ptr<PulledCode> pulled_;
};

// The modules that a launch over C-contiguous arrays runs, in that order.
std::vector<std::string> texts_for_reading(const ir::Kernel& kernel,
                                           const CompileOptions& options) {
    const ir::Kernel lowered = lang::lower(kernel, lang::Lowering::all);
    const auto [plan, pulled] = usual(lowered, kernel, options);
    if (pulled.groups.empty()) return {emit(plan)};
    std::vector<std::string> texts;
    std::vector<Binding> bindings(lowered.parameters.size());
    for (std::size_t p = 0; p < bindings.size(); ++p)
        bindings[p].element_stride = lowered.parameters[p].components;
    for (const std::vector<int>& group : pulled.groups) {
        Pull pull(plan, group, true, texts.empty() ? pulled.reduced : std::vector<ir::Value>{});
        const Form form = pull.form(pull.bind(bindings.data(), 0, false));
        texts.push_back(emit(make_plan(pull.kernel(), form, options, none_fixed(pull.kernel()))));
        if (pull.shifted())
            texts.push_back(emit(make_plan(pull.inner(), form, options, none_fixed(pull.inner()))));
    }
    if (pulled.has_rest)
        texts.push_back(emit(make_plan(pulled.rest, usual_form(pulled.rest), options,
                                       fixed_for(pulled.rest, plan))));
    return texts;
}

}  // namespace

std::shared_ptr<Executable> compile_cpu(const ir::Kernel& kernel, const CompileOptions& options) {
    const int w = options.width;
    if (w != 0 && w != 1 && w != 4 && w != 8 && w != 16)
        throw Error("kernels cannot be compiled for " + std::to_string(w) + " lanes")
            .remedy("choose a width of 1, 4, 8 or 16, or 0 for the machine's own");
    return std::make_shared<CpuExecutable>(kernel, options);
}

std::string cpu_llvm_text(const ir::Kernel& kernel, const CompileOptions& options) {
    std::string all;
    for (const std::string& text : texts_for_reading(kernel, options)) all += text;
    return all;
}

std::string cpu_assembly(const ir::Kernel& kernel, const CompileOptions& options) {
    std::string all;
    for (const std::string& text : texts_for_reading(kernel, options))
        all += compile_llvm(text, CodeKind::assembly);
    return all;
}

int cpu_width(ir::Precision precision) { return natural_width(precision); }

}  // namespace hindcast::backend
