#include "engine/backend/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "engine/backend/code_cache.hpp"
#include "engine/backend/cpu_emit.hpp"
#include "engine/backend/cpu_plan.hpp"
#include "engine/backend/gather.hpp"
#include "engine/backend/llvm.hpp"
#include "engine/backend/object_code.hpp"
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

constexpr std::uint64_t code_format = 1;  // raised when Context, Binding or the meaning of emitted code changes

void dump(const Plan& plan, const std::string& text) {
    const char* folder = std::getenv("HINDCAST_DUMP");
    if (folder == nullptr || *folder == 0) return;
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const std::string name = std::string(folder) + "/" + plan.kernel.name + ".w" + std::to_string(plan.width);
    write_file_atomically(name + ".ir", ir::print(plan.kernel));
    write_file_atomically(name + ".ll", text);
    write_file_atomically(name + ".s", compile_llvm(text, CodeKind::assembly));
}

std::unique_ptr<ObjectCode> make_code(const Plan& plan) {
    const std::string text = emit(plan);
    dump(plan, text);
    Hasher hash;
    const Hash128 target = code_target();
    hash.integer(code_format).integer(target.high).integer(target.low).integer(static_cast<std::uint64_t>(plan.width)).text(text);
    const Hash128 key = hash.digest();
    if (const auto cached = read_cached(key)) {
        try {
            return std::make_unique<ObjectCode>(*cached, "kernel");
        } catch (const Error& error) {
            log_warning("kernel cache: {}", error.what());
        }
    }
    const std::string object = compile_llvm(text, CodeKind::object);
    write_cached(key, object);
    return std::make_unique<ObjectCode>(object, "kernel");
}

// Memory for local arrays of the kernel that this thread runs.
char* arena(std::uint64_t bytes) {
    static thread_local AlignedBuffer<char> memory;
    if (memory.size() < bytes) memory = AlignedBuffer<char>(bytes);
    return memory.data();
}

// The kernel for one form of its parameters, with what its launches need besides.
class Variant {
public:
    Variant(const ir::Kernel& lowered, const Form& form, const CompileOptions& options)
        : width_(options.width),
          plan_(make_plan(lowered, form, options)),
          code_(make_code(plan_)),
          function_(reinterpret_cast<Function>(code_->entry())),
          grain_(plan_.total_count > 0 ? reduce_chunk : 64),
          chunk_totals_(static_cast<std::size_t>(plan_.total_count)),
          scratch_(static_cast<std::size_t>(plan_.scratch_count)) {
        for (std::size_t p = 0; p < plan_.rows.size(); ++p) {
            const ir::Parameter& parameter = plan_.kernel.parameters[p];
            if (parameter.access == ir::Access::sum && form[p].same_as < 0) sums_.push_back(static_cast<int>(p));
            if (parameter.access == ir::Access::reduce) reduces_.push_back(static_cast<int>(p));
            if (!plan_.rows[p].empty()) gathered_.push_back({static_cast<int>(p), IndexKey(plan_.kernel, plan_.rows[p]), {}, {}, 0});
        }
    }

    const Form& form() const { return plan_.form; }
    int width() const { return width_; }

    void run(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        clear_sums(bindings, items);
        if (items <= 0) return;
        prepare_gather(bindings, items);
        // A dispatch costs less than a microsecond; work below a few of them stays on this thread.
        const bool parallel = pool != nullptr && pool->threads() > 1 && !plan_.serial && static_cast<double>(items) * plan_.work > inline_work;
        Context context;
        if (parallel) run_parallel(bindings, items, *pool, context);
        else run_range(bindings, 0, items, context);
        if (context.fault_item != INT64_MAX) raise(context, bindings);
        if (!gathered_.empty()) add_up(bindings, items, parallel ? pool : nullptr);
        if (!reduces_.empty()) finish_reduce(bindings, items);
    }

private:
    static constexpr double inline_work = 60000;
    static constexpr int tasks_per_thread = 4;

    // What is known of the accumulations into one gathered parameter.
    struct Gathered {
        int symbol;
        IndexKey key;
        struct Known {
            std::vector<std::uint64_t> key;
            Inverse inverse;
        };
        std::vector<std::unique_ptr<Known>> known;  // the last one used first
        std::vector<std::uint64_t> now;
        std::size_t scratch_bytes;
    };
    static constexpr std::size_t kept_inverses = 16;

    void clear_sums(const Binding* bindings, std::int64_t items) const {
        for (const int p : sums_) {
            const ir::Parameter& parameter = plan_.kernel.parameter(p);
            const Binding& b = bindings[p];
            const Summation how = plan_.summation[static_cast<std::size_t>(p)];
            if (how == Summation::gathered && items > 0) continue;  // each target starts from 0
            const std::size_t size = ir::size_of(parameter.type);
            const std::int64_t begin = how == Summation::own ? std::min(items, b.count) : 0;
            for (std::int64_t i = begin; i < b.count; ++i)
                for (int c = 0; c < parameter.components; ++c)
                    std::memset(static_cast<char*>(b.data) + (i * b.element_stride + c * b.component_stride) * static_cast<std::int64_t>(size), 0, size);
        }
    }

    void prepare_gather(const Binding* bindings, std::int64_t items) {
        for (Gathered& g : gathered_) {
            const std::int64_t targets = bindings[g.symbol].count;
            g.key.read(bindings, items, targets, g.now);
            const auto found = std::find_if(g.known.begin(), g.known.end(), [&](const auto& k) { return k->key == g.now; });
            if (found != g.known.end()) {
                std::rotate(g.known.begin(), found, found + 1);
            } else {
                const std::vector<Row>& rows = plan_.rows[static_cast<std::size_t>(g.symbol)];
                g.known.insert(g.known.begin(), std::make_unique<typename Gathered::Known>(
                                                    typename Gathered::Known{g.now, invert(plan_.kernel, rows, bindings, items, targets)}));
                if (g.known.size() > kept_inverses) g.known.pop_back();
            }
        }
        if (gathered_.empty() || scratch_items(items) == scratch_items_) return;
        scratch_items_ = scratch_items(items);
        std::size_t bytes = 0;
        std::vector<std::size_t> offsets;
        for (const Gathered& g : gathered_) {
            const auto p = static_cast<std::size_t>(g.symbol);
            const int components = plan_.kernel.parameters[p].components;
            for (std::size_t r = 0; r < plan_.rows[p].size(); ++r)
                for (int group = 0; group < group_count(components); ++group) offsets.push_back(0);
        }
        // Group by group, the rows of a group one after the other: an inverse counts positions over rows.
        for (const Gathered& g : gathered_) {
            const auto p = static_cast<std::size_t>(g.symbol);
            const int components = plan_.kernel.parameters[p].components, groups = group_count(components);
            for (int group = 0; group < groups; ++group)
                for (std::size_t r = 0; r < plan_.rows[p].size(); ++r) {
                    offsets[static_cast<std::size_t>(plan_.scratch[p]) + r * static_cast<std::size_t>(groups) + static_cast<std::size_t>(group)] = bytes;
                    bytes += static_cast<std::size_t>(scratch_items_) * static_cast<std::size_t>(padded(group_size(components, group))) * ir::size_of(plan_.kernel.parameters[p].type);
                }
        }
        if (scratch_memory_.size() < bytes) scratch_memory_ = AlignedBuffer<char>(bytes);
        for (std::size_t k = 0; k < offsets.size(); ++k) scratch_[k] = scratch_memory_.data() + offsets[k];
    }

    // Items begin .. end-1 on this thread; begin is a multiple of the grain.
    void run_range(const Binding* bindings, std::int64_t begin, std::int64_t end, Context& context) {
        if (plan_.arena_bytes > 0) context.arena = arena(plan_.arena_bytes);
        context.scratch = scratch_.data();
        if (reduces_.empty()) {
            function_(bindings, begin, end, &context);
            return;
        }
        const auto count = static_cast<std::size_t>(plan_.total_count);
        const std::size_t chunks = static_cast<std::size_t>((end + reduce_chunk - 1) / reduce_chunk) * count;
        if (chunk_totals_.size() < chunks) chunk_totals_.resize(chunks);
        constexpr std::size_t enough = 32;
        alignas(64) double few[enough * reduce_lanes];
        std::vector<double> many(count > enough ? count * reduce_lanes : 0);
        double* lanes = context.totals = count > enough ? many.data() : few;
        for (std::int64_t at = begin; at < end; at += reduce_chunk) {
            std::fill_n(lanes, count * reduce_lanes, 0.0);
            function_(bindings, at, std::min(end, at + reduce_chunk), &context);
            for (std::size_t k = 0; k < count; ++k) {
                double* lane = lanes + k * reduce_lanes;
                for (int half = reduce_lanes / 2; half > 0; half /= 2)
                    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
                chunk_totals_[static_cast<std::size_t>(at / reduce_chunk) * count + k] = lane[0];
            }
        }
    }

    void run_parallel(const Binding* bindings, std::int64_t items, ThreadPool& pool, Context& result) {
        const std::int64_t blocks = (items + grain_ - 1) / grain_;
        const auto tasks = static_cast<int>(std::min<std::int64_t>(blocks, static_cast<std::int64_t>(pool.threads()) * tasks_per_thread));
        if (!reduces_.empty()) chunk_totals_.resize(std::max(chunk_totals_.size(), static_cast<std::size_t>(blocks) * static_cast<std::size_t>(plan_.total_count)));
        std::mutex mutex;
        pool.run(tasks, [&](int task) {
            Context context;
            run_range(bindings, blocks * task / tasks * grain_, std::min(items, blocks * (task + 1) / tasks * grain_), context);
            if (context.fault_item == INT64_MAX) return;
            const std::lock_guard lock(mutex);
            if (context.fault_item < result.fault_item) result = context;
        });
    }

    void add_up(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
        for (const Gathered& g : gathered_) {
            const auto p = static_cast<std::size_t>(g.symbol);
            const ir::Parameter& parameter = plan_.kernel.parameters[p];
            const Binding& b = bindings[g.symbol];
            const Inverse& inverse = g.known.front()->inverse;
            const auto size = static_cast<std::int64_t>(ir::size_of(parameter.type));
            for (int group = 0; group < group_count(parameter.components); ++group) {
                const GatherPass pass{&inverse, scratch_[static_cast<std::size_t>(plan_.scratch[p] + group)],
                                      static_cast<char*>(b.data) + 4 * group * b.component_stride * size, b.element_stride, b.component_stride,
                                      group_size(parameter.components, group), parameter.access == ir::Access::sum, parameter.type == ir::Type::f64};
                constexpr std::int64_t block = 256;
                const std::int64_t blocks = (b.count + block - 1) / block;
                if (pool == nullptr || blocks == 1) {
                    gather(pass, 0, b.count);
                    continue;
                }
                const auto tasks = static_cast<int>(std::min<std::int64_t>(blocks, static_cast<std::int64_t>(pool->threads()) * tasks_per_thread));
                pool->run(tasks, [&](int task) { gather(pass, blocks * task / tasks * block, std::min(b.count, blocks * (task + 1) / tasks * block)); });
            }
        }
        static_cast<void>(items);
    }

    void finish_reduce(const Binding* bindings, std::int64_t items) const {
        const auto count = static_cast<std::size_t>(plan_.total_count);
        const auto chunks = static_cast<std::size_t>((items + reduce_chunk - 1) / reduce_chunk);
        for (const int p : reduces_) {
            auto* target = static_cast<double*>(bindings[p].data);
            if (target == nullptr) continue;
            for (int c = 0; c < plan_.kernel.parameter(p).components; ++c) {
                double total = 0;
                for (std::size_t k = 0; k < chunks; ++k) total += chunk_totals_[k * count + static_cast<std::size_t>(plan_.totals[static_cast<std::size_t>(p)] + c)];
                target[c] += total;
            }
        }
    }

    [[noreturn]] void raise(const Context& context, const Binding* bindings) const {
        const ir::Op& op = plan_.kernel.op(context.fault_op);
        std::string what, remedy;
        if (op.nest >= 0) {
            what = "a loop makes more than its max_trips of " + std::to_string(plan_.kernel.nest(op).max_trips) + " trips";
            remedy = "raise max_trips, or check the condition or bounds";
        } else {
            what = "index " + std::to_string(context.fault_index) + " is out of range: '" + plan_.kernel.parameter(op.symbol).name + "' has " +
                   std::to_string(bindings[op.symbol].count) + " elements";
            remedy = "check the index, or the size of the array that is bound";
        }
        throw Error(what).in_kernel(plan_.kernel.name).at_item(context.fault_item).at(plan_.kernel.place_of(context.fault_op)).remedy(remedy);
    }

    int width_;  // asked for; a serial plan has 1
    Plan plan_;
    std::unique_ptr<ObjectCode> code_;
    Function function_;
    std::int64_t grain_;
    std::vector<int> sums_, reduces_;
    std::vector<Gathered> gathered_;
    std::vector<double> chunk_totals_;
    std::vector<char*> scratch_;
    AlignedBuffer<char> scratch_memory_;
    std::int64_t scratch_items_ = -1;
};

class CpuExecutable final : public Executable {
public:
    CpuExecutable(const ir::Kernel& kernel, const CompileOptions& options)
        : kernel_(kernel), lowered_(lang::lower(kernel, lang::Lowering::all)), options_(options),
          width_(options.width > 0 ? options.width : natural_width(kernel.precision)) {
        int accumulated = 0;
        for (const ir::Parameter& p : kernel.parameters) accumulated += p.access == ir::Access::accumulate || p.access == ir::Access::sum;
        may_alias_ = accumulated > 1;
    }

    const ir::Kernel& kernel() const override { return kernel_; }

    void prepare(const Binding* bindings, std::int64_t items) override { variant(bindings, items); }

    void run(const Binding* bindings, std::int64_t items, const RunOptions& options) override {
        Variant& v = variant(bindings, items);
        const FloatEnvironment environment;
        v.run(bindings, items, options.pool);
    }

private:
    // Few items do not fill the widest vectors, and masked lanes cost like others.
    int width_for(std::int64_t items) const {
        int width = width_;
        while (options_.width == 0 && width > 4 && items <= width / 2) width /= 2;
        return width;
    }

    bool same_as_last(const Binding* bindings) const {
        for (std::size_t p = 0; p < last_.size(); ++p) {
            const Binding &a = last_[p], &b = bindings[p];
            if (a.element_stride != b.element_stride || a.component_stride != b.component_stride || a.count != b.count) return false;
            if (may_alias_ && a.data != b.data) return false;
        }
        return current_ != nullptr;
    }

    // The code for these bindings; compiles what was not met before.
    Variant& variant(const Binding* bindings, std::int64_t items) {
        const int width = width_for(items);
        if (!same_as_last(bindings)) {
            last_.assign(bindings, bindings + kernel_.parameters.size());
            form_ = form_of(lowered_, bindings);
            current_ = nullptr;
        }
        if (current_ != nullptr && current_->width() == width) return *current_;
        for (const auto& v : variants_)
            if (v->form() == form_ && v->width() == width) return *(current_ = v.get());
        current_ = nullptr;
        variants_.push_back(std::make_unique<Variant>(lowered_, form_, CompileOptions{width, options_.checked}));
        return *(current_ = variants_.back().get());
    }

    ir::Kernel kernel_, lowered_;
    CompileOptions options_;
    int width_;
    bool may_alias_ = false;
    std::vector<std::unique_ptr<Variant>> variants_;
    std::vector<Binding> last_;  // the bindings of the last run
    Form form_;                  // theirs
    Variant* current_ = nullptr; // the code that ran them
};

Plan plan_for_reading(const ir::Kernel& kernel, const CompileOptions& options) {
    const ir::Kernel lowered = lang::lower(kernel, lang::Lowering::all);
    return make_plan(lowered, usual_form(lowered), options);
}

}  // namespace

std::shared_ptr<Executable> compile_cpu(const ir::Kernel& kernel, const CompileOptions& options) {
    const int w = options.width;
    if (w != 0 && w != 1 && w != 4 && w != 8 && w != 16)
        throw Error("kernels cannot be compiled for " + std::to_string(w) + " lanes").remedy("choose a width of 1, 4, 8 or 16, or 0 for the machine's own");
    return std::make_shared<CpuExecutable>(kernel, options);
}

std::string cpu_llvm_text(const ir::Kernel& kernel, const CompileOptions& options) { return emit(plan_for_reading(kernel, options)); }

std::string cpu_assembly(const ir::Kernel& kernel, const CompileOptions& options) {
    return compile_llvm(cpu_llvm_text(kernel, options), CodeKind::assembly);
}

int cpu_width(ir::Precision precision) { return natural_width(precision); }

}  // namespace hindcast::backend
