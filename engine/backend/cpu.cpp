#include "engine/backend/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <vector>

#include "engine/backend/cpu_emit.hpp"
#include "engine/backend/cpu_plan.hpp"
#include "engine/backend/fixed_sums.hpp"
#include "engine/backend/gather.hpp"
#include "engine/backend/llvm.hpp"
#include "engine/backend/machine_code.hpp"
#include "engine/backend/pull.hpp"
#include "engine/backend/split.hpp"
#include "engine/backend/undo.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/files.hpp"
#include "engine/base/float_environment.hpp"
#include "engine/base/log.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend {

namespace {

using namespace cpu;
using Function = void (*)(const Binding*, std::int64_t begin, std::int64_t end, Context*);

// Raised when Context, Binding or the meaning of emitted code changes.
constexpr std::uint64_t code_format = 2;

void dump(const Plan& plan, const std::string& text) {
    const char* folder = std::getenv("HINDCAST_DUMP");
    if (folder == nullptr || *folder == 0) return;
    std::filesystem::create_directories(folder);
    const std::string name = std::string(folder) + "/" + plan.kernel.name + ".w";
    const std::string file = name + std::to_string(plan.width);
    write_file_atomically(file + ".ir", ir::print(plan.kernel));
    write_file_atomically(file + ".ll", text);
    write_file_atomically(file + ".s", compile_llvm(text, CodeKind::assembly));
}

// What is planned for a kernel and its code, made under one timer.
struct Compiled {
    Plan plan;
    std::unique_ptr<ObjectCode> code;

    Compiled(const ir::Kernel& lowered, const Form& form, const CompileOptions& options,
             const FixedPlan& fixed) {
        const CodeTimer timer;
        plan = make_plan(lowered, form, options, fixed);
        const std::string text = emit(plan);
        dump(plan, text);
        code = make_machine_code(text, "kernel", plan.kernel.name, code_format);
    }
};

// Memory for local arrays of the kernel that this thread runs.
char* arena(std::uint64_t bytes) {
    static thread_local AlignedBuffer<char> memory;
    if (memory.size() < bytes) memory = AlignedBuffer<char>(bytes);
    return memory.data();
}

// The kernel for one form of its parameters and one width, with what its launches need besides.
class Variant {
public:
    Variant(const ir::Kernel& lowered, const Form& form, const CompileOptions& options,
            const FixedPlan& fixed)
        : lowered_(lowered),
          options_(options),
          compiled_(lowered, form, options, fixed),
          function_(reinterpret_cast<Function>(compiled_.code->entry())),
          scratch_(plan_.scratch_offset.size()),
          fixed_(plan_) {
        for (std::size_t p = 0; p < form.size(); ++p) {
            const ir::Access access = plan_.kernel.parameters[p].access;
            if (access == ir::Access::sum && form[p].same_as < 0) sums_.push_back(p);
            if (access == ir::Access::reduce) reduces_.push_back(p);
            if (!plan_.rows[p].empty()) gathers_.emplace_back(plan_, static_cast<int>(p));
        }
    }

    const Form& form() const { return plan_.form; }
    int width() const { return options_.width; }

    void run(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        clear_sums(bindings, items);
        if (items <= 0) return;
        if (is_short(items)) pool = nullptr;
        for (Gather& g : gathers_) g.prepare(bindings, items);
        if (!gathers_.empty()) lay_out_scratch(scratch_items(items));
        const std::int64_t chunks = (items + reduce_chunk - 1) / reduce_chunk;
        const auto totals = static_cast<std::size_t>(chunks * plan_.total_count);
        if (chunk_totals_.size() < totals) chunk_totals_.resize(totals);

        if (pool != nullptr && pool->threads() == 1) pool = nullptr;
        if (fixed_.empty())
            run_items(bindings, items, pool);
        else
            run_fixed(bindings, items, pool);
        for (const Gather& g : gathers_) {
            const Binding& target = bindings[g.symbol()];
            split(pool, target.count, 256, [&](std::int64_t begin, std::int64_t end) {
                g.run(target, scratch_.data(), begin, end);
            });
        }
        if (!fixed_.empty()) fixed_.add(bindings, pool);
        for (const std::size_t p : reduces_) {
            auto* target = static_cast<double*>(bindings[p].data);
            const int components = target != nullptr ? plan_.kernel.parameters[p].components : 0;
            for (int c = 0; c < components; ++c) {
                double total = 0;
                for (std::int64_t k = 0; k < chunks; ++k)
                    total += chunk_totals_[k * plan_.total_count + plan_.totals[p] + c];
                target[c] += total;
            }
        }
    }

    // The same for a kernel without sums. For the items first .. end-1, multiples of most_lanes,
    // `inner` has shorter code.
    void run_around(Variant& inner, std::int64_t first, std::int64_t end, const Binding* bindings,
                    std::int64_t items, ThreadPool* pool) {
        if (inner.is_short(items)) pool = nullptr;
        split(pool, items, 64, [&](std::int64_t begin, std::int64_t last) {
            const std::int64_t a = std::clamp(first, begin, last), b = std::clamp(end, a, last);
            Context context;
            if (begin < a) run_range(bindings, begin, a, context);
            if (a < b) inner.run_range(bindings, a, b, context);
            if (b < last) run_range(bindings, b, last, context);
        });
    }

private:
    // A dispatch costs less than a microsecond; work of a few of them stays on this thread.
    bool is_short(std::int64_t items) const {
        constexpr double inline_work = 60000;
        return static_cast<double>(items) * plan_.work < inline_work;
    }

    void clear_sums(const Binding* bindings, std::int64_t items) const {
        for (const std::size_t p : sums_) {
            const Binding& b = bindings[p];
            const auto size =
                static_cast<std::int64_t>(ir::size_of(plan_.kernel.parameters[p].type));
            std::int64_t i = plan_.first_to_clear(static_cast<int>(p), items, b.count);
            for (; i < b.count; ++i)
                for (int c = 0; c < plan_.kernel.parameters[p].components; ++c) {
                    const std::int64_t at = i * b.element_stride + c * b.component_stride;
                    std::memset(static_cast<char*>(b.data) + at * size, 0, size);
                }
        }
    }

    void run_items(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        if (pool != nullptr) return run_parallel(bindings, items, pool);
        Context context;
        if (!fixed_.empty()) context.fixed = fixed_.acquire(0, 1);
        run_range(bindings, 0, items, context);
        if (!fixed_.empty()) fixed_.release(context.fixed);
        if (context.fault_item != INT64_MAX) raise_fault(plan_, context, bindings);
    }

    // With sums in fixed point, which fixed_.add() then adds to the targets. A launch runs with the
    // scales of the one before; where they were wrong it runs again, with what it has changed as it
    // was. Scales that keep changing are found before the run.
    void run_fixed(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        constexpr int often = 4, most = 8;
        fixed_.prepare(bindings, items, pool);
        const auto note = [&](bool changed) {
            misses_ = changed ? std::min(misses_ + 2, most) : std::max(misses_ - 1, 0);
        };
        try {
            const bool changes = !plan_.changed.empty();  // what it reads
            if (changes && (misses_ >= often || !undo_.pays(bindings, items))) {
                note(fixed_.copy_scales(measuring().measure(bindings, items, pool)));
                run_items(bindings, items, pool);
                return;
            }
            undo_.keep(bindings, pool);
            run_items(bindings, items, pool);
            const Scales scales = fixed_.check(items);
            note(scales != Scales::right);
            if (scales == Scales::right) return;
            fixed_.clear();
            undo_.restore(pool);
            if (scales == Scales::unknown) {
                fixed_.start_measuring();
                run_items(bindings, items, pool);
                fixed_.check(items);
                fixed_.clear();
                undo_.restore(pool);
            }
            run_items(bindings, items, pool);
        } catch (...) {
            fixed_.clear();
            throw;
        }
    }

    // The kernel without its effects: only for the scales of the sums in fixed point.
    Variant& measuring() {
        if (measuring_ == nullptr)
            measuring_ = std::make_unique<Variant>(lowered_, plan_.form, options_,
                                                   FixedPlan{plan_.fixed, true});
        return *measuring_;
    }

    const FixedSums& measure(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        fixed_.prepare(bindings, items, pool);
        fixed_.clear();
        fixed_.start_measuring();
        run_items(bindings, items, pool);
        fixed_.check(items);
        return fixed_;
    }

    void lay_out_scratch(std::int64_t items) {
        if (items == laid_out_for_) return;
        laid_out_for_ = items;
        const std::size_t bytes = plan_.scratch_offset.back() * items;
        if (scratch_memory_.size() < bytes) scratch_memory_ = AlignedBuffer<char>(bytes);
        for (std::size_t k = 0; k < scratch_.size(); ++k)
            scratch_[k] = scratch_memory_.data() + plan_.scratch_offset[k] * items;
    }

    // Items begin .. end-1 on this thread; with reductions begin is a multiple of reduce_chunk.
    void run_range(const Binding* bindings, std::int64_t begin, std::int64_t end,
                   Context& context) {
        if (plan_.arena_bytes > 0) context.arena = arena(plan_.arena_bytes);
        context.scratch = scratch_.data();
        const int count = plan_.total_count;
        if (count == 0) {
            function_(bindings, begin, end, &context);
            return;
        }
        constexpr int enough = 32;
        alignas(64) double few[enough * reduce_lanes];
        std::vector<double> many(count > enough ? count * reduce_lanes : 0);
        double* lanes = context.totals = count > enough ? many.data() : few;
        for (std::int64_t at = begin; at < end; at += reduce_chunk) {
            std::fill_n(lanes, count * reduce_lanes, 0.0);
            function_(bindings, at, std::min(end, at + reduce_chunk), &context);
            for (std::int64_t k = 0; k < count; ++k) {
                double* lane = lanes + k * reduce_lanes;
                for (int half = reduce_lanes / 2; half > 0; half /= 2)
                    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
                chunk_totals_[at / reduce_chunk * count + k] = lane[0];
            }
        }
    }

    void run_parallel(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        Context lowest;
        std::mutex mutex;
        const std::int64_t block = plan_.total_count > 0 ? reduce_chunk : 64;
        split(pool, items, block, [&](std::int64_t begin, std::int64_t end) {
            Context context;
            if (!fixed_.empty()) context.fixed = fixed_.acquire(begin, items);
            run_range(bindings, begin, end, context);
            if (!fixed_.empty()) fixed_.release(context.fixed);
            if (context.fault_item == INT64_MAX) return;
            const std::lock_guard lock(mutex);
            if (context.fault_item < lowest.fault_item) lowest = context;
        });
        if (lowest.fault_item != INT64_MAX) raise_fault(plan_, lowest, bindings);
    }

    const ir::Kernel& lowered_;
    CompileOptions options_;
    Compiled compiled_;
    const Plan& plan_ = compiled_.plan;
    Function function_;
    std::vector<std::size_t> sums_, reduces_;  // parameters
    std::vector<Gather> gathers_;
    std::vector<double> chunk_totals_;  // [chunk][total]
    std::vector<char*> scratch_;
    AlignedBuffer<char> scratch_memory_;
    std::int64_t laid_out_for_ = -1;
    FixedSums fixed_;
    Undo undo_{plan_};
    int misses_ = 0;  // launches whose scales were others than those of the one before, lately
    std::unique_ptr<Variant> measuring_;
};

// A kernel's code for every layout and width that was met.
class Code {
public:
    Code(ir::Kernel lowered, const CompileOptions& options, FixedPlan fixed)
        : lowered_(std::move(lowered)),
          fixed_(std::move(fixed)),
          options_(options),
          last_(lowered_) {}

    const ir::Kernel& lowered() const { return lowered_; }

    // The code for these bindings; compiles what was not met before.
    Variant& variant(const Binding* bindings, std::int64_t items, const Pull* pull = nullptr) {
        const int width = lanes_for(lowered_.precision, options_.width, items);
        if (last_.change(bindings)) {
            form_ = pull != nullptr ? pull->form(last_.bindings()) : form_of(lowered_, bindings);
            current_ = nullptr;
        }
        if (current_ != nullptr && current_->width() == width) return *current_;
        for (const auto& v : variants_)
            if (v->form() == form_ && v->width() == width) return *(current_ = v.get());
        current_ = nullptr;
        const CompileOptions options{width, options_.checked};
        variants_.push_back(std::make_unique<Variant>(lowered_, form_, options, fixed_));
        return *(current_ = variants_.back().get());
    }

private:
    ir::Kernel lowered_;
    FixedPlan fixed_;
    CompileOptions options_;
    std::vector<std::unique_ptr<Variant>> variants_;
    LastBindings last_;
    Form form_;                   // theirs
    Variant* current_ = nullptr;  // the code that ran them
};

// The plan for C-contiguous arrays, and what of it is pulled. `traced`: before it was lowered.
std::pair<Plan, Pulled> usual(const ir::Kernel& lowered, const ir::Kernel& traced,
                              const CompileOptions& options) {
    Plan plan = make_plan(lowered, usual_form(lowered), options, {fixed_point_parameters(traced)});
    Pulled pulled = find_pulled(plan);
    return {std::move(plan), std::move(pulled)};
}

FixedPlan none_fixed(const ir::Kernel& kernel) {
    return {std::vector<FixedPoint>(kernel.parameters.size())};
}
// What is left keeps the kernel's fixed-point sums; the terms stand behind its parameters.
FixedPlan fixed_for(const ir::Kernel& rest, const Plan& plan) {
    FixedPlan fixed{plan.fixed};
    fixed.parameters.resize(rest.parameters.size());
    return fixed;
}

// The pulled form of a kernel: the loops over targets, and what is left for the items.
class PulledCode {
public:
    PulledCode(const Plan& plan, const Pulled& pulled, const CompileOptions& options)
        : plan_(plan),
          rest_(pulled.rest, options, fixed_for(pulled.rest, plan)),
          has_rest_(pulled.has_rest) {
        for (const std::vector<int>& group : pulled.groups) {
            Part part;
            part.group = group;
            if (parts_.empty()) part.reduced = pulled.reduced;
            part.pull = std::make_unique<Pull>(plan_, group, true, part.reduced);
            part.compile(options);
            parts_.push_back(std::move(part));
        }
    }

    void prepare(const Binding* bindings, std::int64_t items) {
        for (Part& part : parts_)
            if (const auto& bound = part.pull->bind(bindings, items, false); !bound.empty())
                part.variants(bound.data());
        if (has_rest_) rest_.variant(bind_rest(bindings), items);
    }

    // False: this launch cannot be pulled, and nothing was done.
    bool run(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        bool possible = true;
        for (Part& part : parts_) {
            if (part.pull->copied() > most_copies) part.gather(plan_);
            part.bound = &part.pull->bind(bindings, items, true);
            possible &= !part.bound->empty();
        }
        if (!possible) return false;
        for (Part& part : parts_) {
            const Binding* const bound = part.bound->data();
            const std::int64_t targets = part.pull->targets();
            const auto [all, inner] = part.variants(bound);
            const auto [first, end] = part.pull->inside();
            if (inner != nullptr && first < end)
                all->run_around(*inner, first, end, bound, targets, pool);
            else
                all->run(bound, targets, pool);
        }
        if (!has_rest_) return true;
        bindings = bind_rest(bindings);
        rest_.variant(bindings, items).run(bindings, items, pool);
        return true;
    }

private:
    // Values that change before every launch are not worth copying into the order of the entries.
    static constexpr int most_copies = 8;
    struct Part {
        std::vector<int> group;
        std::vector<ir::Value> reduced;
        std::unique_ptr<Pull> pull;
        std::unique_ptr<Code> code, inner;  // inner: if shifted
        CompileOptions options;
        const std::vector<Binding>* bound = nullptr;

        void compile(const CompileOptions& with) {
            options = with;
            code = std::make_unique<Code>(pull->kernel(), options, none_fixed(pull->kernel()));
            if (pull->shifted())
                inner = std::make_unique<Code>(pull->inner(), options, none_fixed(pull->inner()));
        }

        std::pair<Variant*, Variant*> variants(const Binding* bindings) const {
            const std::int64_t targets = pull->targets();
            return {&code->variant(bindings, targets, pull.get()),
                    inner ? &inner->variant(bindings, targets, pull.get()) : nullptr};
        }

        void gather(const Plan& plan) {
            pull = std::make_unique<Pull>(plan, group, false, reduced);
            compile(options);
        }
    };
    // With the terms that the first part stored.
    const Binding* bind_rest(const Binding* bindings) {
        const std::size_t reduced = parts_.front().reduced.size();
        if (reduced == 0) return bindings;
        bindings_.assign(bindings, bindings + plan_.kernel.parameters.size());
        for (std::size_t k = 0; k < reduced; ++k)
            bindings_.push_back(parts_.front().pull->terms(k));
        return bindings_.data();
    }

    Plan plan_;
    std::vector<Part> parts_;
    Code rest_;
    bool has_rest_;
    std::vector<Binding> bindings_;  // of the rest
};

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
        if (pulled_ && items >= enough_to_pull && pulled_->run(bindings, items, options.pool))
            return;
        whole_.variant(bindings, items).run(bindings, items, options.pool);
    }

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
