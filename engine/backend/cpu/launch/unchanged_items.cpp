#include "engine/backend/cpu/launch/unchanged_items.hpp"

#include <algorithm>

#include "engine/backend/binding.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/ir/effects.hpp"

namespace hindcast::backend::cpu {

using ir::Access;
using ir::OpCode;
using ir::Value;

namespace {

constexpr std::int64_t enough = 1024;  // items; fewer are done before this has been thought over
constexpr int most_changes = 16;       // in a row: then it is given up

}  // namespace

UnchangedItems::UnchangedItems(const Plan& plan) : plan_(plan) {
    const ir::Kernel& kernel = plan.kernel;
    if (plan.checked || plan.measure) return;
    bool may_fail = false;  // where loops have a limit
    for (const ir::Region& region : kernel.regions)
        for (const Value v : region.ops)
            may_fail |=
                kernel.op(v).code == OpCode::while_ ||
                (kernel.op(v).code == OpCode::for_ && kernel.nest(kernel.op(v)).max_trips > 0);
    const std::vector<ir::Effects> effects = ir::effects_of(kernel);
    for (std::size_t p = 0; p < effects.size(); ++p) {
        const ir::Effects& e = effects[p];
        const auto number = static_cast<int>(p);
        switch (kernel.parameters[p].access) {
            case Access::value: shared_.push_back(number); continue;
            case Access::read:
            case Access::write:
            case Access::read_write:
            case Access::accumulate: break;
            default: return;
        }
        const bool own = e.reads_own || e.writes_own || e.adds_own,
                   changed = e.writes_own || e.adds_own;
        if (e.writes_other || e.adds_other || plan.shares_buffer(number)) return;
        if ((e.reads_other && changed) || plan.form[p].layout == Layout::strided) return;
        if (e.reads_other || (own && plan.form[p].layout == Layout::shared))
            shared_.push_back(number);
        else if (own)
            own_.push_back({number, e.reads_own || e.adds_own, changed, e.leaves_zero});
    }
    possible_ = std::any_of(own_.begin(), own_.end(), [](const Own& o) { return o.read; }) &&
                std::any_of(own_.begin(), own_.end(), [](const Own& o) { return o.written; });
    may_wait_ = possible_ && !may_fail;
}

// Fills inputs_ and next_; false: all items have to run.
bool UnchangedItems::read_inputs(const Binding* bindings, std::int64_t items) {
    inputs_ = {};
    next_.assign(1, static_cast<std::uint64_t>(items));
    for (const int p : shared_) {
        if (bindings[p].contents == nullptr) return false;
        next_.push_back(bindings[p].contents->version);
    }
    bool any_idle = false;
    for (const Own& own : own_) {
        const Binding& b = bindings[own.parameter];
        if (b.contents == nullptr || b.count != items) return false;
        if (!own.read) continue;
        const bool idle = b.contents->is_idle();
        if (!idle && own.written) return false;
        any_idle |= idle;
        next_.push_back(idle ? 0 : b.contents->version);
        if (idle) inputs_ = hull(inputs_, b.contents->busy);
    }
    const std::int64_t idle_items = items - (inputs_.end - inputs_.begin);
    return any_idle && idle_items >= items / 8;
}

ActiveRange UnchangedItems::busy(const Binding* bindings, std::int64_t items, const Run& run) {
    const ActiveRange all{0, items};
    knows_ = false;
    if (!possible_ || items < enough || !read_inputs(bindings, items)) return all;
    if (next_ != versions_) {
        if (++changes_ > most_changes) possible_ = false;
        versions_ = next_;
        number_ = next_number();
        keeps_zeros_ = possible_ && keeps_zeros(bindings, items, run);
    } else {
        changes_ = 0;
    }
    if (!keeps_zeros_) return all;
    knows_ = true;
    ActiveRange range = inputs_;
    for (const Own& own : own_) {
        if (own.read) continue;
        const ArrayFacts& contents = *bindings[own.parameter].contents;
        range = hull(range, contents.is_idle(number_) ? contents.busy : all);
    }
    return range;
}

void UnchangedItems::learn(std::vector<FactUpdate>& learned) const {
    if (!knows_) return;
    for (const Own& own : own_)
        if (own.written)
            learned.push_back(
                {own.parameter, own.cleared ? ActiveRange{} : inputs_, own.read ? 0 : number_});
}

const LoopArrays* UnchangedItems::effects(const Binding* bindings, std::int64_t items) {
    if (!may_wait_ || items < DeferredWork::block) return nullptr;
    effects_.clear();
    for (const int p : shared_) {
        if (bindings[p].contents == nullptr) return nullptr;
        effects_.read_elsewhere.push_back(bindings[p].contents);
    }
    for (const Own& own : own_) {
        const Binding& b = bindings[own.parameter];
        if (b.contents == nullptr || b.count != items) return nullptr;
        if (own.written) effects_.written.push_back(b.contents);
    }
    return &effects_;
}

// True if arrays that are both read and written stay zero when all values read are zero. Runs the
// kernel block by block on scratch memory in place of the block's elements.
bool UnchangedItems::keeps_zeros(const Binding* bindings, std::int64_t items,
                                 const Run& run) const {
    if (std::none_of(own_.begin(), own_.end(),
                     [](const Own& own) { return own.read && own.written; }))
        return true;
    constexpr std::int64_t block = 256;
    std::vector<Binding> zeros(bindings, bindings + plan_.kernel.parameters.size());
    struct Scratch {
        const Own& own;
        AlignedBuffer<std::byte> memory;
        std::int64_t element_bytes = 0;
    };
    std::vector<Scratch> scratch;
    std::size_t k = 1 + shared_.size();
    for (const Own& own : own_) {
        if (own.read && versions_[k++] != 0) continue;  // has to be what it is
        const ir::Parameter& p = plan_.kernel.parameter(own.parameter);
        const std::size_t scalar = ir::size_of(p.type);
        Binding& b = zeros[own.parameter];
        if (b.component_stride != 1) b.component_stride = block;
        scratch.push_back({own, AlignedBuffer<std::byte>(block * p.components * scalar),
                           b.element_stride * static_cast<std::int64_t>(scalar)});
    }
    try {
        for (std::int64_t begin = 0; begin < items; begin += block) {
            for (Scratch& s : scratch)
                zeros[s.own.parameter].data = s.memory.data() - begin * s.element_bytes;
            run(zeros.data(), {begin, std::min(begin + block, items)});
            for (const Scratch& s : scratch)
                if (s.own.read && s.own.written &&
                    std::any_of(s.memory.span().begin(), s.memory.span().end(),
                                [](std::byte b) { return b != std::byte{0}; }))
                    return false;
        }
    } catch (const Error&) {  // the launch itself will report the fault
        return false;
    }
    return true;
}

}  // namespace hindcast::backend::cpu
