// find_blocks() sees which memory the texts use and as what; grown() writes the text of a group.
#include "engine/backend/cpu/program/batch.hpp"

#include <algorithm>
#include <cstring>

#include "engine/backend/executable.hpp"
#include "engine/backend/plan/fixed_point.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/ir/batch.hpp"
#include "engine/ir/memory_type.hpp"

namespace hindcast::backend {

using ir::Access;
using ir::Parameter;

namespace {

constexpr std::int64_t alignment = static_cast<std::int64_t>(memory_alignment);

// Scalars from the first to the last that the binding reaches.
std::int64_t extent(const Parameter& p, const Binding& b) {
    if (ir::is_single(p)) return p.components;
    if (b.count == 0) return 0;
    return (b.count - 1) * b.element_stride + (p.components - 1) * b.component_stride + 1;
}

const MovingMemory* moving_of(const ProgramCall& call, std::size_t parameter) {
    for (const auto& [p, memory] : call.moving)
        if (p == static_cast<int>(parameter)) return &memory;
    return nullptr;
}

}  // namespace

// ---------------------------------------------------------------- what memory there is

// The uses of memory in a text, as blocks that may overlap.
struct Batch::Ranges {
    std::vector<Block> found;
    std::vector<std::pair<const void*, const void*>> copies;  // to, from
    std::vector<const void*> flags;

    void use(const void* memory, std::int64_t bytes, std::int64_t scalar, bool written,
             bool whole = false) {
        if (memory == nullptr || bytes <= 0) return;
        const char* const begin = static_cast<const char*>(memory);
        found.push_back({begin, begin + bytes, scalar, written, whole});
    }
    // For t up to `last`; t + offset is never negative.
    void use(const MovingMemory& memory, std::int64_t last, std::int64_t bytes, std::int64_t scalar,
             bool written) {
        const std::int64_t before = (last + memory.offset) * memory.bytes;
        use(memory.base, memory.bytes == 0 ? bytes : before + bytes, scalar, written);
    }
    void use(const ProgramCall& call, std::int64_t last) {
        for (std::size_t p = 0; p < call.bindings.size(); ++p) {
            const Parameter& parameter = call.kernel->parameters[p];
            const auto scalar = static_cast<std::int64_t>(ir::size_of(ir::memory_type(parameter)));
            const std::int64_t bytes = extent(parameter, call.bindings[p]) * scalar;
            const bool written = !ir::only_reads(parameter.access);
            if (const MovingMemory* memory = moving_of(call, p))
                use(*memory, last, bytes, scalar, written);
            else
                use(call.bindings[p].data, bytes, scalar, written);
        }
    }
    void use(const ProgramText& text) {
        for (const ProgramPart& part : text.parts) {
            const std::int64_t last = std::max(part.begin, part.end) - 1;
            for (const ProgramItem& item : part.items) {
                if (const auto* call = std::get_if<ProgramCall>(&item)) {
                    use(*call, last);
                } else if (const auto* copy = std::get_if<ProgramCopy>(&item)) {
                    use(copy->from, copy->bytes, 0, false);
                    use(copy->to, last, copy->bytes, 0, true);
                    if (copy->bytes > 0) copies.emplace_back(copy->to.base, copy->from);
                } else if (const auto* clear = std::get_if<ProgramClear>(&item)) {
                    use(clear->at, clear->bytes, 0, true);
                } else if (const auto* check = std::get_if<ProgramCheck>(&item)) {
                    const auto size = static_cast<std::int64_t>(ir::size_of(check->type));
                    use(check->data, check->scalars * size, size, false);
                    use(check->flag, sizeof(std::int32_t), 4, true, true);
                    flags.push_back(check->flag);
                } else {
                    use(std::get<ProgramCounter>(item).at, sizeof(std::int32_t), 4, true, true);
                }
            }
        }
    }
};

void Batch::find_blocks(std::span<const void* const> differs) {
    Ranges ranges;
    for (const ProgramText& text : texts_) ranges.use(text);
    std::sort(ranges.found.begin(), ranges.found.end(),
              [](const Block& a, const Block& b) { return a.begin < b.begin; });
    for (const Block& next : ranges.found) {
        if (blocks_.empty() || next.begin >= blocks_.back().end) {
            blocks_.push_back(next);
            continue;
        }
        Block& last = blocks_.back();
        if (last.scalar != 0 && next.scalar != 0 && last.scalar != next.scalar)
            throw Error("a batch has no memory with numbers of two sizes");
        last.end = std::max(last.end, next.end);
        last.scalar = std::max(last.scalar, next.scalar);
        last.written |= next.written;
        last.whole |= next.whole;
    }
    flags_ = ranges.flags;
    for (Block& b : blocks_)
        b.kind = b.whole ? Kind::group : b.written ? Kind::lanes : Kind::shared;
    for (const void* const memory : differs)
        for (Block& b : blocks_)
            if (memory >= b.begin && memory < b.end && b.kind == Kind::shared) b.kind = Kind::lanes;
    // A copy takes what its source holds, number by number.
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [to, from] : ranges.copies) {
            Block &target = block(to), &source = block(from);
            if (target.kind == Kind::group || source.kind == Kind::group)
                throw Error("a batch keeps no counters");
            if (target.kind == Kind::lanes && source.kind == Kind::shared)
                source.kind = Kind::lanes, changed = true;
            if (target.scalar == source.scalar) continue;
            if (target.scalar != 0 && source.scalar != 0)
                throw Error("a batch has no memory with numbers of two sizes");
            target.scalar = source.scalar = std::max(target.scalar, source.scalar);
            changed = true;
        }
    }
    place_blocks();
}

void Batch::place_blocks() {
    for (Block& b : blocks_) {
        if (b.kind == Kind::shared) continue;
        b.numbers = b.scalar != 0;
        if (!b.numbers) b.scalar = 4;
        b.offset = group_bytes_;
        const std::int64_t bytes = (b.end - b.begin) * (b.kind == Kind::lanes ? lanes_ : 1);
        group_bytes_ += (bytes + alignment - 1) / alignment * alignment;
    }
    // Groups that lie a power of two apart would share few sets of a cache.
    if (group_bytes_ % 4096 == 0) group_bytes_ += alignment;
}

const Batch::Block* Batch::find(const void* memory) const {
    const auto after =
        std::upper_bound(blocks_.begin(), blocks_.end(), static_cast<const char*>(memory),
                         [](const char* address, const Block& b) { return address < b.begin; });
    return after == blocks_.begin() || memory >= std::prev(after)->end ? nullptr
                                                                       : &*std::prev(after);
}

const Batch::Block& Batch::block(const void* memory) const {
    if (const Block* found = find(memory)) return *found;
    throw Error("internal: a batch knows nothing of this memory");
}
Batch::Block& Batch::block(const void* memory) {
    return const_cast<Block&>(std::as_const(*this).block(memory));
}

// ---------------------------------------------------------------- the text of a group

void* Batch::moved(const void* memory) const {
    const Block& b = block(memory);
    if (b.kind == Kind::shared) return const_cast<void*>(memory);
    const std::int64_t inside = static_cast<const char*>(memory) - b.begin;
    return const_cast<char*>(model_.data()) + b.offset +
           inside * (b.kind == Kind::lanes ? lanes_ : 1);
}

MovingMemory Batch::moved(const MovingMemory& memory) const {
    return {moved(memory.base), memory.bytes * times(memory.base), memory.offset};
}

std::int64_t Batch::times(const void* memory) const {
    return block(memory).kind == Kind::lanes ? lanes_ : 1;
}

void Batch::add(const ProgramCall& call, std::vector<ProgramItem>& items) {
    const std::vector<Parameter>& parameters = call.kernel->parameters;
    for (const FixedPoint& f : fixed_point_parameters(*call.kernel))
        if (f.used) throw Error("'" + call.description + "' sums in fixed point");
    std::vector<MovingMemory> where(parameters.size());
    std::vector<ir::BatchParameter> batched(parameters.size());
    ProgramCall grown;
    grown.items = lanes_;
    grown.description = call.description;
    grown.bindings = call.bindings;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Binding& b = call.bindings[p];
        const MovingMemory* const moving = moving_of(call, p);
        where[p] = moving != nullptr ? *moving : MovingMemory{b.data, 0, 0};
        batched[p] = {false, static_cast<int>(p), b.element_stride, b.component_stride};
        Binding& g = grown.bindings[p];
        g.data = nullptr;
        const std::int64_t scalars = extent(parameters[p], b);
        if (scalars == 0) where[p].base = nullptr;
        if (where[p].base == nullptr) continue;  // no op uses it
        if (block(where[p].base).kind != Kind::lanes) {
            batched[p].shared = true;
            g.data = moved(where[p].base);
        } else {
            batched[p].buffer = same_memory(call, where, static_cast<int>(p));
            if (batched[p].buffer != static_cast<int>(p)) continue;
            g = {moved(where[p].base), scalars * lanes_, 1, 1, 0};
            if (parameters[p].access == Access::sum) {
                const auto size = static_cast<std::int64_t>(ir::size_of(parameters[p].type));
                items.emplace_back(ProgramClear{g.data, scalars * lanes_ * size});
            }
        }
        if (moving != nullptr) grown.moving.emplace_back(static_cast<int>(p), moved(*moving));
    }
    if (call.items == 0) return;
    try {
        kernels_.push_back(ir::batch(*call.kernel, call.items, lanes_, batched));
    } catch (Error& e) {
        e.note("in the launch '" + call.description + "'");
        throw;
    }
    grown.kernel = &kernels_.back();
    items.emplace_back(std::move(grown));
}

// The first parameter that is bound to the memory of parameter p. Throws Error where two overlap
// otherwise, and one of them is written.
int Batch::same_memory(const ProgramCall& call, std::span<const MovingMemory> where, int p) const {
    const auto k = static_cast<std::size_t>(p);
    for (std::size_t q = 0; q < k; ++q) {
        if (where[q].base == nullptr || &block(where[q].base) != &block(where[k].base)) continue;
        const bool same = where[q].base == where[k].base && where[q].bytes == where[k].bytes &&
                          where[q].offset == where[k].offset;
        const bool q_reads = ir::only_reads(call.kernel->parameters[q].access),
                   k_reads = ir::only_reads(call.kernel->parameters[k].access);
        if (same && q_reads == k_reads) return static_cast<int>(q);
        if (!q_reads || !k_reads)
            throw Error("'" + call.description + "' reads and writes one array");
    }
    return p;
}

ProgramText Batch::grown(const ProgramText& text) {
    ProgramText result;
    result.lanes = lanes_;
    for (const ProgramPart& part : text.parts) {
        ProgramPart to{{}, part.begin, part.end};
        for (const ProgramItem& item : part.items) {
            if (const auto* call = std::get_if<ProgramCall>(&item)) {
                add(*call, to.items);
            } else if (const auto* copy = std::get_if<ProgramCopy>(&item)) {
                if (copy->bytes > 0)
                    to.items.emplace_back(ProgramCopy{moved(copy->from), moved(copy->to),
                                                      copy->bytes * times(copy->from)});
            } else if (const auto* clear = std::get_if<ProgramClear>(&item)) {
                if (clear->bytes > 0)
                    to.items.emplace_back(
                        ProgramClear{moved(clear->at), clear->bytes * times(clear->at)});
            } else if (const auto* check = std::get_if<ProgramCheck>(&item)) {
                if (check->scalars == 0) continue;
                ProgramCheck of = *check;
                of.data = moved(check->data);
                of.scalars *= times(check->data);
                of.flag = static_cast<std::int32_t*>(moved(check->flag));
                to.items.emplace_back(of);
            } else {
                ProgramCounter counter = std::get<ProgramCounter>(item);
                counter.at = static_cast<std::int32_t*>(moved(counter.at));
                to.items.emplace_back(counter);
            }
        }
        result.parts.push_back(std::move(to));
    }
    return result;
}

Batch::Batch(std::vector<ProgramText> texts, std::span<const void* const> differs, int lanes,
             int width)
    : texts_(std::move(texts)), lanes_(lanes) {
    find_blocks(differs);
    model_ = AlignedBuffer<char>(static_cast<std::size_t>(group_bytes_));
    for (const ProgramText& text : texts_)
        programs_.push_back(std::make_unique<CpuProgram>(grown(text), width));
}

Batch::~Batch() = default;

// ---------------------------------------------------------------- members

namespace {

// number(s) for each scalar s of a block, as integers of its size.
template <class F>
void each_scalar(std::int64_t scalars, std::int64_t size, F number) {
    for (std::int64_t s = 0; s < scalars; ++s)
        if (size == 4)
            number(s, std::uint32_t{});
        else
            number(s, std::uint64_t{});
}

}  // namespace

char* Batch::at(std::size_t group, const Block& b) const {
    return const_cast<char*>(memory_.data()) + static_cast<std::int64_t>(group) * group_bytes_ +
           b.offset;
}

void Batch::resize(std::size_t members) {
    const auto lanes = static_cast<std::size_t>(lanes_);
    const std::size_t groups = (members + lanes - 1) / lanes;
    members_ = 0;
    memory_ = {};
    memory_ = AlignedBuffer<char>(static_cast<std::size_t>(group_bytes_) * groups);
    frames_.assign(programs_.size(), {});
    for (std::size_t which = 0; which < programs_.size(); ++which)
        for (std::size_t g = 0; g < groups; ++g)
            frames_[which].push_back(programs_[which]->frame(
                model_.data(), group_bytes_,
                memory_.data() + static_cast<std::int64_t>(g) * group_bytes_ - model_.data()));
    for (const Block& b : blocks_)
        if (b.kind == Kind::lanes)
            for (std::size_t m = 0; m < groups * lanes; ++m) put_lane(m, b);
    members_ = groups * lanes;
}

void Batch::put_lane(std::size_t place, const Block& b) {
    const auto lane = static_cast<std::int64_t>(place % static_cast<std::size_t>(lanes_));
    char* const to = at(place / static_cast<std::size_t>(lanes_), b);
    each_scalar((b.end - b.begin) / b.scalar, b.scalar, [&]<class T>(std::int64_t s, T) {
        std::memcpy(to + (s * lanes_ + lane) * static_cast<std::int64_t>(sizeof(T)),
                    b.begin + s * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    });
}

void Batch::put(std::size_t member, const void* memory) {
    const Block* const b = find(memory);
    if (b != nullptr && b->kind == Kind::lanes) put_lane(member, *b);
}

void Batch::get(std::size_t member, void* memory) const {
    const Block* const found = find(memory);
    if (found == nullptr || found->kind != Kind::lanes) return;
    const Block& b = *found;
    const auto lane = static_cast<std::int64_t>(member % static_cast<std::size_t>(lanes_));
    const char* const from = at(member / static_cast<std::size_t>(lanes_), b);
    char* const to = const_cast<char*>(b.begin);
    each_scalar((b.end - b.begin) / b.scalar, b.scalar, [&]<class T>(std::int64_t s, T) {
        std::memcpy(to + s * static_cast<std::int64_t>(sizeof(T)),
                    from + (s * lanes_ + lane) * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    });
}

void Batch::fill(const void* memory, double value) {
    const Block* const found = find(memory);
    if (found == nullptr || !found->numbers) return;
    const Block& b = *found;
    if (b.kind != Kind::lanes) throw Error("internal: a batch shares the memory that is filled");
    for (std::size_t g = 0; g < frames_.front().size(); ++g) {
        char* const to = at(g, b);
        const std::int64_t scalars = (b.end - b.begin) / b.scalar * lanes_;
        if (b.scalar == 4)
            std::fill_n(reinterpret_cast<float*>(to), scalars, static_cast<float>(value));
        else
            std::fill_n(reinterpret_cast<double*>(to), scalars, value);
    }
}

void Batch::run(std::size_t which, ThreadPool* pool, std::vector<char>& marked) {
    const std::size_t groups = frames_[which].size();
    marked.resize(groups, 0);
    const auto run_group = [&](int k) {
        const auto g = static_cast<std::size_t>(k);
        if (marked[g] != 0) return;
        const auto flag = [&](const void* memory) {
            return reinterpret_cast<std::int32_t*>(at(g, block(memory)));
        };
        for (const void* const f : flags_) *flag(f) = 0;
        try {
            programs_[which]->run(*frames_[which][g]);
        } catch (const Error&) {  // a member's fault: alone it raises the same
            marked[g] = 1;
        }
        for (const void* const f : flags_)
            if (*flag(f) != 0) marked[g] = 1;
    };
    if (pool != nullptr && groups > 1)
        pool->run(static_cast<int>(groups), run_group);
    else
        for (std::size_t g = 0; g < groups; ++g) run_group(static_cast<int>(g));
}

}  // namespace hindcast::backend
