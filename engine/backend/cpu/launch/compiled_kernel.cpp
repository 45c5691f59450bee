#include "engine/backend/cpu/launch/compiled_kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "engine/backend/jit/llvm.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/backend/plan/copy_elements.hpp"
#include "engine/backend/plan/reduction.hpp"
#include "engine/base/files.hpp"
#include "engine/base/thread_pool.hpp"

namespace hindcast::backend::cpu {

namespace {

// Raised when Context, Binding or the meaning of emitted code changes.
constexpr std::uint64_t code_format = 6;

void dump(const Plan& plan, const std::string& text) {
    const char* folder = std::getenv("HINDCAST_DUMP");
    if (folder == nullptr || *folder == 0) return;
    std::filesystem::create_directories(folder);
    constexpr std::size_t longest = 200;  // of a file's name: joined kernels have long ones
    const std::string name = std::string(folder) + "/" + plan.kernel.name.substr(0, longest) + ".w";
    const std::string file = name + std::to_string(plan.width);
    write_file_atomically(file + ".ir", ir::print(plan.kernel));
    write_file_atomically(file + ".ll", text);
    write_file_atomically(file + ".s", compile_llvm(text, CodeKind::assembly));
}

// Memory for local arrays of the kernel that this thread runs.
char* arena(std::uint64_t bytes) {
    static thread_local AlignedBuffer<char> memory;
    if (memory.size() < bytes) memory = AlignedBuffer<char>(bytes);
    return memory.data();
}

std::int64_t chunks_of(std::int64_t items) { return (items + reduce_chunk - 1) / reduce_chunk; }

}  // namespace

Compiled::Compiled(const ir::Kernel& lowered, const Form& form, const CompileOptions& options,
                   const FixedPlan& fixed) {
    const CodeTimer timer;
    plan = make_plan(lowered, form, options, fixed);
    const std::string text = emit(plan);
    dump(plan, text);
    code =
        request_machine_code(text, "kernel", plan.kernel.name, code_format,
                             options.passes.has(Pass::quick_code) ? Haste::quick : Haste::patient);
}

CompiledKernel::CompiledKernel(const ir::Kernel& lowered, const Form& form,
                               const CompileOptions& options, const FixedPlan& fixed)
    : lowered_(lowered),
      options_(options),
      compiled_(lowered, form, options, fixed),
      fixed_(plan_) {
    for (std::size_t p = 0; p < form.size(); ++p) {
        const ir::Access access = plan_.kernel.parameters[p].access;
        if (access == ir::Access::sum && form[p].same_as < 0) sums_.push_back(p);
        if (access == ir::Access::reduce) reduces_.push_back(p);
        if (!plan_.rows[p].empty()) inverses_.emplace_back(plan_, static_cast<int>(p));
    }
}

void CompiledKernel::run(const Binding* bindings, std::int64_t items, const RunOptions& options) {
    // Only of a kernel without sums are items left out, or put off.
    const bool may_leave_out = options.learned != nullptr && options.copies.empty() &&
                               options_.passes.has(Pass::unchanged_items);
    if (options.deferred != nullptr) {
        if (options.learned != nullptr && defer(bindings, items, options, may_leave_out)) {
            if (may_leave_out) idle_.learn(*options.learned);
            return;
        }
        options.deferred->run();
    }
    ThreadPool* pool = options.pool;
    copies_.clear();
    expect(options.copies, bindings, items, pool);
    clear_sums(bindings, items);
    if (items <= 0) return;
    const ActiveRange range = may_leave_out ? busy(bindings, items) : ActiveRange{0, items};
    if (is_short(range.end - range.begin)) pool = nullptr;
    for (InverseIndex& inverse : inverses_) inverse.prepare(bindings, items);
    if (!inverses_.empty()) terms_.lay_out(plan_, inverses_, items);
    const auto totals = static_cast<std::size_t>(chunks_of(items) * plan_.total_count);
    if (chunk_totals_.size() < totals) chunk_totals_.resize(totals);

    if (pool != nullptr && pool->threads() == 1) pool = nullptr;
    if (fixed_.empty())
        run_items(bindings, range, items, pool);
    else
        run_fixed(bindings, items, pool);
    for (const InverseIndex& inverse : inverses_) {
        const Binding& target = bindings[inverse.symbol()];
        split(pool, Cut(pool, target.count, 256), [&](std::int64_t begin, std::int64_t end) {
            inverse.run(target, terms_.rows(), begin, end);
        });
    }
    if (!fixed_.empty()) {
        DeferredWork now(pool);
        fixed_.add(bindings, options.deferred != nullptr ? *options.deferred : now,
                   options.learned);
    }
    if (may_leave_out) idle_.learn(*options.learned);
    add_totals(bindings, items);
}

void CompiledKernel::add_totals(const Binding* bindings, std::int64_t items) const {
    for (const std::size_t p : reduces_) {
        auto* target = static_cast<double*>(bindings[p].data);
        const int components = target != nullptr ? plan_.kernel.parameters[p].components : 0;
        for (int c = 0; c < components; ++c) {
            double total = 0;
            for (std::int64_t k = 0; k < chunks_of(items); ++k)
                total += chunk_totals_[k * plan_.total_count + plan_.totals[p] + c];
            target[c] += total;
        }
    }
}

// The items that have to run.
ActiveRange CompiledKernel::busy(const Binding* bindings, std::int64_t items) {
    return idle_.busy(bindings, items, [&](const Binding* zeros, const ActiveRange& some) {
        run_items(zeros, some, items, nullptr);
    });
}

bool CompiledKernel::defer(const Binding* bindings, std::int64_t items, const RunOptions& options,
                           bool may_leave_out) {
    const LoopArrays* const effects = idle_.effects(bindings, items);
    const auto with_items = [&](const Copy& copy) {
        return copies_with_items(copy, bindings, items);
    };
    if (effects == nullptr ||
        !std::all_of(options.copies.begin(), options.copies.end(), with_items))
        return false;
    DeferredWork& deferred = *options.deferred;
    DeferredWork::Loop loop;
    loop.count = items;
    loop.occupied = occupied(bindings, items);
    loop.written = effects->written;
    loop.read_elsewhere = effects->read_elsewhere;
    deferred.make_way(loop);
    // Copies only where others wait already: with the items they are made a little sooner.
    if (!options.copies.empty() && deferred.empty()) return false;
    // Unchanged bindings stay where they are: other threads have them in their caches.
    const std::size_t count = plan_.kernel.parameters.size();
    const bool same = std::equal(deferred_launch_.bindings.begin(), deferred_launch_.bindings.end(),
                                 bindings, bindings + count,
                                 [](const Binding& a, const Binding& b) { return a.is_same(b); });
    const bool copies = !options.copies.empty() || !deferred_launch_.copies.empty();
    if ((!same || copies) && deferred_launch_.among == deferred.number()) deferred.run();
    if (!same) deferred_launch_.bindings.assign(bindings, bindings + count);
    deferred_launch_.copies.assign(options.copies.begin(), options.copies.end());
    deferred_launch_.among = deferred.number();
    loop.range = may_leave_out ? busy(bindings, items) : ActiveRange{0, items};
    loop.work = work_of(loop.range.end - loop.range.begin);
    deferred.add(loop, [this](std::int64_t begin, std::int64_t end) {
        Context context;
        for (const Copy& copy : deferred_launch_.copies) copy_out(copy, begin, end);
        run_range(deferred_launch_.bindings.data(), begin, end, context);
    });
    return true;
}

void CompiledKernel::run_range(const Binding* bindings, std::int64_t begin, std::int64_t end,
                               Context& context) {
    if (plan_.arena_bytes > 0) context.arena = arena(plan_.arena_bytes);
    context.scratch = terms_.rows();
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
        for (std::int64_t k = 0; k < count; ++k)
            chunk_totals_[at / reduce_chunk * count + k] = add_pairwise(lanes + k * reduce_lanes);
    }
    context.totals = nullptr;  // they were here
}

void CompiledKernel::clear_sums(const Binding* bindings, std::int64_t items) const {
    for (const std::size_t p : sums_) {
        const Binding& b = bindings[p];
        const auto size = static_cast<std::int64_t>(ir::size_of(plan_.kernel.parameters[p].type));
        std::int64_t i = plan_.first_to_clear(static_cast<int>(p), items, b.count);
        for (; i < b.count; ++i)
            for (int c = 0; c < plan_.kernel.parameters[p].components; ++c) {
                const std::int64_t at = i * b.element_stride + c * b.component_stride;
                std::memset(static_cast<char*>(b.data) + at * size, 0, size);
            }
    }
}

// An array whose elements only the items with their numbers change, if anything does.
bool CompiledKernel::copies_with_items(const Copy& copy, const Binding* bindings,
                                       std::int64_t items) const {
    if (copy.array.count != items || plan_.total_count > 0) return false;
    for (const std::size_t p : sums_)
        if (bindings[p].data == copy.array.data) return false;
    return true;
}

// Makes copies, or leaves them to the next run of all items.
void CompiledKernel::expect(std::span<const Copy> copies, const Binding* bindings,
                            std::int64_t items, ThreadPool* pool) {
    for (const Copy& copy : copies) {
        if (copies_with_items(copy, bindings, items))
            copies_.push_back(copy);
        else
            copy_out({&copy, 1}, pool);
    }
}

// Items begin .. end-1 of `items`, and the copies of their elements.
void CompiledKernel::run_task(const Binding* bindings, std::int64_t begin, std::int64_t end,
                              std::int64_t items, std::uint64_t fixed_run, Context& context) {
    FixedPointSums::Slot* const slot =
        fixed_.empty() ? nullptr : fixed_.acquire(begin, items, fixed_run);
    if (slot != nullptr) context.fixed = slot->states.data();
    for (const Copy& copy : copies_) copy_out(copy, begin, end);
    run_range(bindings, begin, end, context);
    if (slot != nullptr) FixedPointSums::release(slot);
}

void CompiledKernel::run_items(const Binding* bindings, ActiveRange range, std::int64_t items,
                               ThreadPool* pool) {
    if (range.begin >= range.end) return;
    if (pool != nullptr) return run_parallel(bindings, range, items, pool);
    Context context;
    run_task(bindings, range.begin, range.end, items, fixed_.run(), context);
    if (context.fault.is_there()) raise_fault(plan_.kernel, context.fault, bindings);
}

// The busy range of the first array with an element for each item; empty for reductions.
ActiveRange CompiledKernel::occupied(const Binding* bindings, std::int64_t items) const {
    if (plan_.total_count > 0) return {};
    for (std::size_t p = 0; p < plan_.form.size(); ++p) {
        const Binding& b = bindings[p];
        if (b.occupied != nullptr && b.count == items && b.occupied->end > 0) return *b.occupied;
    }
    return {};
}

void CompiledKernel::run_parallel(const Binding* bindings, ActiveRange range, std::int64_t items,
                                  ThreadPool* pool) {
    KernelFault lowest;
    std::mutex mutex;
    const std::int64_t block = plan_.total_count > 0 ? reduce_chunk : DeferredWork::block;
    split(
        pool, range, block, occupied(bindings, items),
        [=, this, fixed_run = fixed_.run(), &lowest, &mutex](std::int64_t begin, std::int64_t end) {
            Context context;
            run_task(bindings, begin, end, items, fixed_run, context);
            if (!context.fault.is_there()) return;
            const std::lock_guard lock(mutex);
            if (context.fault.item < lowest.item) lowest = context.fault;
        });
    if (lowest.is_there()) raise_fault(plan_.kernel, lowest, bindings);
}

void CompiledKernel::run_fixed(const Binding* bindings, std::int64_t items, ThreadPool* pool) {
    constexpr int often = 4, most = 8;
    fixed_.prepare(bindings, items, pool);
    const auto note = [&](bool changed) {
        misses_ = changed ? std::min(misses_ + 2, most) : std::max(misses_ - 1, 0);
    };
    try {
        const bool changes = !plan_.changed.empty();  // it changes arrays that it reads
        if (changes && (misses_ >= often || !undo_.pays(bindings, items))) {
            note(fixed_.copy_scales(measuring().measure(bindings, items, pool)));
            run_items(bindings, {0, items}, items, pool);
            return;
        }
        expect(undo_.copies(bindings, copies_), bindings, items, pool);
        run_items(bindings, {0, items}, items, pool);
        copies_.clear();
        const Scales scales = fixed_.check(items);
        note(scales != Scales::right);
        if (scales == Scales::right) return;
        fixed_.clear();
        undo_.restore(pool);
        if (scales == Scales::unknown) {
            fixed_.start_measuring();
            run_items(bindings, {0, items}, items, pool);
            fixed_.check(items);
            fixed_.clear();
            undo_.restore(pool);
        }
        run_items(bindings, {0, items}, items, pool);
    } catch (...) {
        fixed_.clear();
        throw;
    }
}

CompiledKernel& CompiledKernel::measuring() {
    if (measuring_ == nullptr)
        measuring_ = std::make_unique<CompiledKernel>(lowered_, plan_.form, options_,
                                                      FixedPlan{plan_.fixed, true});
    measuring_->finish();
    return *measuring_;
}

const FixedPointSums& CompiledKernel::measure(const Binding* bindings, std::int64_t items,
                                              ThreadPool* pool) {
    fixed_.prepare(bindings, items, pool);
    fixed_.clear();
    fixed_.start_measuring();
    run_items(bindings, {0, items}, items, pool);
    fixed_.check(items);
    return fixed_;
}

CompiledKernel& CompiledKernels::prepare(const Binding* bindings, std::int64_t items,
                                         const TargetLoop* loop) {
    const int width = lanes_for(lowered_.precision, options_.width, items);
    if (last_.change(bindings)) {
        form_ = loop != nullptr ? loop->form(last_.bindings()) : form_of(lowered_, bindings);
        // Sums in fixed point would be in memory twice, for near and for far arrays.
        if (!options_.passes.has(Pass::prefetch) ||
            std::ranges::any_of(fixed_.parameters, &FixedPoint::used))
            for (ParameterForm& f : form_) f.far = false;
        current_ = nullptr;
    }
    if (current_ != nullptr && current_->width() == width) return *current_;
    for (const auto& v : variants_)
        if (v->form() == form_ && v->width() == width) return *(current_ = v.get());
    current_ = nullptr;
    CompileOptions options = options_;
    options.width = width;
    variants_.push_back(std::make_unique<CompiledKernel>(lowered_, form_, options, fixed_));
    return *(current_ = variants_.back().get());
}

}  // namespace hindcast::backend::cpu
