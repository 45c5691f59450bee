#include "engine/backend/cpu/launch/per_target_launch.hpp"

#include <algorithm>

#include "engine/backend/plan/copy_elements.hpp"
#include "engine/backend/plan/work_split.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/ir/memory_type.hpp"

namespace hindcast::backend::cpu {

namespace {

// Values that change before every launch are not worth copying into the order of the entries.
constexpr int most_copies = 8;
static constexpr std::int64_t block = 64;  // ranges begin at multiples of it
static_assert(block % most_lanes == 0);

// A shifted part of a launch. Its kernel has no sums.
struct Stencil {
    const TargetLoop& loop;
    CompiledKernel &all, &inner;
    const Binding* bindings;

    void run(std::int64_t begin, std::int64_t end) const {
        const auto [first, last] = loop.inside();
        const std::int64_t a = std::clamp(first, begin, end), b = std::clamp(last, a, end);
        Context context;
        if (begin < a) all.run_range(bindings, begin, a, context);
        if (a < b) inner.run_range(bindings, a, b, context);
        if (b < end) all.run_range(bindings, b, end, context);
    }
};

}  // namespace

FixedPlan no_fixed_point(const ir::Kernel& kernel) {
    return {std::vector<FixedPoint>(kernel.parameters.size())};
}

FixedPlan fixed_for(const ir::Kernel& rest, const Plan& plan) {
    FixedPlan fixed{plan.fixed};
    fixed.parameters.resize(rest.parameters.size());
    return fixed;
}

void PerTargetLaunch::Part::compile(const CompileOptions& with) {
    options = with;
    code =
        std::make_unique<CompiledKernels>(loop->kernel(), options, no_fixed_point(loop->kernel()));
    if (loop->shifted())
        inner = std::make_unique<CompiledKernels>(loop->inner(), options,
                                                  no_fixed_point(loop->inner()));
}

void PerTargetLaunch::Part::prepare(const Binding* bindings) const {
    code->prepare(bindings, loop->targets(), loop.get());
    if (inner) inner->prepare(bindings, loop->targets(), loop.get());
}

std::pair<CompiledKernel*, CompiledKernel*> PerTargetLaunch::Part::variants(
    const Binding* bindings) const {
    const std::int64_t targets = loop->targets();
    return {&code->variant(bindings, targets, loop.get()),
            inner ? &inner->variant(bindings, targets, loop.get()) : nullptr};
}

void PerTargetLaunch::Part::read_in_place(const Plan& plan) {
    loop = std::make_unique<TargetLoop>(plan, group, false, reduced);
    compile(options);
}

PerTargetLaunch::PerTargetLaunch(const Plan& plan, const PerTarget& per_target,
                                 const CompileOptions& options)
    : plan_(plan),
      rest_(per_target.rest, options, fixed_for(per_target.rest, plan)),
      has_rest_(per_target.has_rest) {
    for (const std::vector<int>& group : per_target.groups) {
        Part part;
        part.group = group;
        if (parts_.empty()) part.reduced = per_target.reduced;
        part.loop = std::make_unique<TargetLoop>(plan_, group, true, part.reduced);
        part.compile(options);
        parts_.push_back(std::move(part));
    }
}

void PerTargetLaunch::prepare(const Binding* bindings, std::int64_t items) {
    for (Part& part : parts_)
        if (const auto& bound = part.loop->bind(bindings, items, false); !bound.empty())
            part.prepare(bound.data());
    if (has_rest_) rest_.prepare(bind_rest(bindings), items);
}

bool PerTargetLaunch::run(const Binding* bindings, std::int64_t items, const RunOptions& options) {
    // Waiting loops may belong to this launch, or may write arrays that tables are made from.
    if (options.deferred != nullptr) options.deferred->run();
    ThreadPool* const pool = options.pool;
    bool possible = true;
    for (Part& part : parts_) {
        if (part.loop->copied() > most_copies) part.read_in_place(plan_);
        part.bound = &part.loop->bind(bindings, items, true);
        possible &= !part.bound->empty();
    }
    if (!possible) return false;
    copy_out(options.copies, pool);
    if (is_one_loop()) {
        DeferredWork now(pool);
        effects_.clear();
        const bool waits = options.deferred != nullptr && find_effects(bindings);
        run_targets(bindings, items, waits ? *options.deferred : now);
        return true;
    }
    CompiledKernel* rest = nullptr;
    if (has_rest_) {
        bindings = bind_rest(bindings);
        rest = &rest_.variant(bindings, items);
    }
    for (Part& part : parts_) {
        const Binding* const bound = part.bound->data();
        const auto [all, inner] = part.variants(bound);
        if (inner == nullptr) {
            all->run(bound, part.loop->targets(), {pool});
            continue;
        }
        const Stencil stencil{*part.loop, *all, *inner, bound};
        ThreadPool* const threads = inner->is_short(part.loop->targets()) ? nullptr : pool;
        split(threads, Cut(threads, part.loop->targets(), block),
              [&](std::int64_t begin, std::int64_t end) { stencil.run(begin, end); });
    }
    if (rest != nullptr) rest->run(bindings, items, {pool});
    return true;
}

// True if the launch is one loop over targets; only sums over all items may follow it.
bool PerTargetLaunch::is_one_loop() const {
    const Part& part = parts_.front();
    return parts_.size() == 1 && !part.loop->shifted() && (!has_rest_ || !part.reduced.empty());
}

// Fills effects_ with the arrays that the loop over targets uses; false: they are not known.
bool PerTargetLaunch::find_effects(const Binding* bindings) {
    const Part& part = parts_.front();
    LoopArrays& e = effects_;
    const auto is_target = [&](int symbol) {
        return std::find(part.group.begin(), part.group.end(), symbol) != part.group.end();
    };
    for (int symbol = 0; symbol < static_cast<int>(plan_.kernel.parameters.size()); ++symbol) {
        const Binding& b = bindings[symbol];
        const ir::Access access = plan_.kernel.parameter(symbol).access;
        if (b.data == nullptr) continue;
        if (ir::only_reads(access)) {  // without `contents` it never changes
            if (b.contents == nullptr) continue;
            (part.loop->reads_near(symbol) ? e.read_near : e.read_elsewhere).push_back(b.contents);
        } else if ((is_target(symbol) || access == ir::Access::reduce) && b.contents != nullptr) {
            e.written.push_back(b.contents);
        } else {
            e.clear();
            return false;
        }
    }
    return true;
}

// The loop over targets as the first of the deferred ones, and the sums over all items.
void PerTargetLaunch::run_targets(const Binding* bindings, std::int64_t items,
                                  DeferredWork& deferred) {
    const Part& part = parts_.front();
    const TargetLoop& of = *part.loop;
    CompiledKernel* const loop = part.variants(part.bound->data()).first;
    const std::int64_t targets = of.targets();
    deferred.add({.count = targets,
                  .range = {0, targets},
                  .occupied = {},
                  .work = loop->work_of(targets),
                  .written = effects_.written,
                  .read_elsewhere = effects_.read_elsewhere,
                  .read_near = effects_.read_near,
                  .reach = of.distance()},
                 [loop, bound = part.bound->data()](std::int64_t begin, std::int64_t end) {
                     Context context;
                     loop->run_range(bound, begin, end, context);
                 });
    if (!has_rest_) return;
    const Binding* const of_rest = bind_rest(bindings);
    deferred.then([rest = &rest_.variant(of_rest, items), of_rest, items](ThreadPool* pool) {
        rest->run(of_rest, items, {pool});
    });
}

const Binding* PerTargetLaunch::bind_rest(const Binding* bindings) {
    const std::size_t reduced = parts_.front().reduced.size();
    if (reduced == 0) return bindings;
    bindings_.assign(bindings, bindings + plan_.kernel.parameters.size());
    for (std::size_t k = 0; k < reduced; ++k) bindings_.push_back(parts_.front().loop->terms(k));
    return bindings_.data();
}

}  // namespace hindcast::backend::cpu
