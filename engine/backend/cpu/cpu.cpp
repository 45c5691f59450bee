#include "engine/backend/cpu/cpu.hpp"

#include <vector>

#include "engine/backend/cpu/launch/per_target_launch.hpp"
#include "engine/backend/cpu/pipeline.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/base/float_environment.hpp"

namespace hindcast::backend {

namespace {

using namespace cpu;

class CpuExecutable final : public Executable {
public:
    CpuExecutable(const ir::Kernel& kernel, const CompileOptions& options)
        : CpuExecutable(kernel, cpu::prepare(kernel, options), options) {}

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

    bool takes_deferred_work() const override { return true; }

private:
    CpuExecutable(const ir::Kernel& kernel, PreparedKernel prepared, const CompileOptions& options)
        : kernel_(kernel), whole_(std::move(prepared.lowered), options, prepared.fixed) {
        if (!prepared.per_target.groups.empty())
            pulled_ =
                std::make_unique<PerTargetLaunch>(prepared.plan, prepared.per_target, options);
    }

    static constexpr std::int64_t enough_to_pull = 64;
    ir::Kernel kernel_;
    CompiledKernels whole_;
    std::unique_ptr<PerTargetLaunch> pulled_;
};

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
    for (const std::string& text : llvm_modules(cpu::prepare(kernel, options), options))
        all += text;
    return all;
}

std::string cpu_assembly(const ir::Kernel& kernel, const CompileOptions& options) {
    std::string all;
    for (const std::string& text : llvm_modules(cpu::prepare(kernel, options), options))
        all += compile_llvm(text, CodeKind::assembly);
    return all;
}

int cpu_width(ir::Precision precision) { return natural_width(precision); }

}  // namespace hindcast::backend
