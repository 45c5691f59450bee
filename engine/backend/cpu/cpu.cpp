#include "engine/backend/cpu/cpu.hpp"

#include <vector>

#include "engine/backend/cpu/launch/per_target_launch.hpp"
#include "engine/backend/cpu/pipeline.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/backend/plan/index_check.hpp"
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
        if (per_target_ && items >= enough_items)
            per_target_->prepare(bindings, items);
        else
            whole_.prepare(bindings, items);
    }

    void run(const Binding* bindings, std::int64_t items, const RunOptions& options) override {
        const FloatEnvironment environment;
        if (per_target_ && items >= enough_items && per_target_->run(bindings, items, options))
            return;
        whole_.variant(bindings, items).run(bindings, items, options);
    }

    bool takes_deferred_work() const override { return true; }

private:
    CpuExecutable(const ir::Kernel& kernel, PreparedKernel prepared, const CompileOptions& options)
        : kernel_(kernel), whole_(std::move(prepared.lowered), options, prepared.fixed) {
        if (!prepared.per_target.groups.empty())
            per_target_ =
                std::make_unique<PerTargetLaunch>(prepared.plan, prepared.per_target, options);
    }

    static constexpr std::int64_t enough_items = 64;
    ir::Kernel kernel_;
    CompiledKernels whole_;
    std::unique_ptr<PerTargetLaunch> per_target_;
};

// Looks at the indices of a launch before it, so that the kernel need not; where they cannot be
// known then, another kernel does.
class IndexCheckedExecutable final : public Executable {
public:
    IndexCheckedExecutable(const ir::Kernel& kernel, CompileOptions options)
        : kernel_(kernel), check_(kernel_), options_(options), plain_(kernel, options) {}

    const ir::Kernel& kernel() const override { return kernel_; }
    void prepare(const Binding* bindings, std::int64_t items) override {
        plain_.prepare(bindings, items);
    }
    void run(const Binding* bindings, std::int64_t items, const RunOptions& options) override {
        (check_.holds(bindings, items) ? plain_ : checked()).run(bindings, items, options);
    }

private:
    CpuExecutable& checked() {
        options_.checked = true;
        if (!checked_) checked_ = std::make_unique<CpuExecutable>(kernel_, options_);
        return *checked_;
    }

    ir::Kernel kernel_;
    IndexCheck check_;
    CompileOptions options_;
    CpuExecutable plain_;
    std::unique_ptr<CpuExecutable> checked_;
};

}  // namespace

std::shared_ptr<Executable> compile_cpu(const ir::Kernel& kernel, const CompileOptions& options) {
    const int w = options.width;
    if (w != 0 && w != 1 && w != 4 && w != 8 && w != 16)
        throw Error("kernels cannot be compiled for " + std::to_string(w) + " lanes")
            .remedy("choose a width of 1, 4, 8 or 16, or 0 for the machine's own");
    return std::make_shared<CpuExecutable>(kernel, options);
}

std::shared_ptr<Executable> compile_cpu_with_checks(const ir::Kernel& kernel,
                                                    CompileOptions options) {
    const IndexCheck check(kernel);
    options.checked |= check.has_unknown();
    if (options.checked || check.is_needless()) return compile_cpu(kernel, options);
    return std::make_shared<IndexCheckedExecutable>(kernel, options);
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
