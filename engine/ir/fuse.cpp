#include "engine/ir/fuse.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "engine/ir/clone.hpp"
#include "engine/ir/effects.hpp"

namespace hindcast::ir {

namespace {

// The pieces' uses of one buffer.
struct Use {
    bool own_read = false, foreign_read = false, own_write = false;
    bool own_sum = false, foreign_sum = false, reduces = false;
    bool alone = false;        // nothing may share it
    bool leaves_zero = false;  // of one piece
    bool touches() const {
        return own_read || foreign_read || own_write || own_sum || foreign_sum || reduces || alone;
    }
    bool stores() const { return own_write || own_sum; }
    void add(const Use& other) {
        own_read |= other.own_read;
        foreign_read |= other.foreign_read;
        own_write |= other.own_write;
        own_sum |= other.own_sum;
        foreign_sum |= other.foreign_sum;
        reduces |= other.reduces;
        alone |= other.alone;
    }
};

std::vector<Use> uses_of(const Kernel& kernel) {
    std::vector<Use> uses;
    for (const Effects& e : effects_of(kernel)) {
        const Access access = kernel.parameters[uses.size()].access;
        const bool is_value = access == Access::value;
        // Own elements may stand at an index that is only declared injective: not known which.
        const bool is_own = access == Access::write || access == Access::read_write;
        Use& use = uses.emplace_back();
        use.own_read = (e.reads_own && !is_value) || (e.reads_other && is_own);
        use.foreign_read = is_value || (e.reads_other && !is_own);
        use.own_write = e.writes_own || (e.writes_other && is_own);
        use.own_sum = e.adds_own;
        use.foreign_sum = e.adds_other;
        use.reduces = e.reduces;
        use.leaves_zero = e.leaves_zero;
        use.alone = access == Access::sum || access == Access::slice || access == Access::atomic ||
                    (is_own && (e.reads_other || e.writes_other));
    }
    return uses;
}

// The table above.
bool legal(const Use& first, const Use& second) {
    if (first.alone || second.alone || first.foreign_sum || second.foreign_sum) return false;
    if (first.reduces || second.reduces) {
        const auto only_reduces = [](const Use& u) {
            return u.reduces && !u.own_read && !u.foreign_read && !u.stores();
        };
        return only_reduces(first) && only_reduces(second);
    }
    if (first.foreign_read && second.stores()) return false;
    return !(first.stores() && second.foreign_read);
}

struct Shared {  // use of a buffer by the pieces so far
    Use use;
    int pieces = 0;
    const Parameter* first = nullptr;
    bool is_passed = false;  // from one piece to those after it
};
using Buffers = std::map<int, Shared>;

std::string cannot_pass(const FusionPiece& piece, std::size_t parameter) {
    return "'" + piece.kernel->parameters[parameter].name + "' of " + piece.kernel->name +
           " cannot be a value";
}

// Adds a piece; returns why it does not fit to those before.
std::string add_piece(const FusionPiece& piece, Buffers& buffers) {
    const std::vector<Use> uses = uses_of(*piece.kernel);
    std::map<int, Shared> mine;
    const auto touch = [&](int buffer, const Use& use, std::size_t p) {
        if (buffer < 0 || !use.touches()) return;
        Shared& shared = mine[buffer];
        shared.use.add(use);
        if (shared.first == nullptr) shared.first = &piece.kernel->parameters[p];
        // One kernel may read through two parameters, but sums that share a target stay apart.
        if (++shared.pieces > 1 && (shared.use.stores() || shared.use.foreign_sum))
            shared.use.alone = true;
    };
    std::set<int> passed;
    for (std::size_t p = 0; p < uses.size(); ++p) {
        Use reads = uses[p];
        if (const int to = piece.passed(p); to >= 0) {
            if (reads.alone || reads.own_sum || reads.foreign_sum || reads.reduces ||
                !reads.own_write || buffers.contains(to) || !passed.insert(to).second)
                return cannot_pass(piece, p);
            reads.own_write = false;
            touch(to, {.own_write = true}, p);
        }
        touch(piece.buffer[p], reads, p);
    }
    for (auto& [buffer, own] : mine) {
        Shared& shared = buffers[buffer];
        if (shared.pieces == 0) {
            shared = own;
            shared.pieces = 1;
            shared.is_passed = passed.contains(buffer);
            continue;
        }
        const bool stored = shared.use.stores() || own.use.stores();
        if (!legal(shared.use, own.use) || (shared.is_passed && own.use.stores()) ||
            (stored && (shared.first->type != own.first->type ||
                        shared.first->components != own.first->components)))
            return "'" + own.first->name + "' of " + piece.kernel->name +
                   " is used by an earlier kernel too";
        shared.use.add(own.use);
        ++shared.pieces;
    }
    return "";
}

// Adds all of them; returns why they do not fit.
std::string add_pieces(const std::vector<FusionPiece>& pieces, const std::set<int>& zero,
                       Buffers& buffers) {
    for (const FusionPiece& piece : pieces) {
        if (piece.kernel->precision != pieces[0].kernel->precision)
            return "the kernels have different precisions";
        if (std::string why = add_piece(piece, buffers); !why.empty()) return why;
    }
    std::set<int> left = zero;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
        const std::vector<Use> uses = uses_of(*piece->kernel);
        std::set<int> seen;
        for (std::size_t p = 0; p < uses.size(); ++p) {
            const int buffer = piece->buffer[p];
            if (!zero.contains(buffer) || !uses[p].touches()) continue;
            const bool last = left.contains(buffer);
            if (buffers[buffer].use.alone || buffers[buffer].use.foreign_read ||
                (last && !uses[p].leaves_zero))
                return cannot_pass(*piece, p);
            seen.insert(buffer);
        }
        for (const int buffer : seen) left.erase(buffer);
    }
    return "";
}

using Values = std::map<std::pair<int, int>, Slot>;  // of buffers without memory

// Clones one kernel after the others.
class Joiner final : public Cloner {
public:
    Joiner(const FusionPiece& piece, Builder& target, std::vector<int> parameters,
           const std::set<int>& updated, Values& values)
        : Cloner(*piece.kernel, target), piece_(piece), updated_(updated), values_(values) {
        symbols = std::move(parameters);
    }

protected:
    Value load(const Op& op, int symbol, Value index) override {
        if (const Slot* const slot = value(op)) return target_.read(*slot);
        return updated_.contains(symbol) ? current(op, symbol, index)
                                         : Cloner::load(op, symbol, index);
    }
    Value own_load(const Op& op, int symbol, Value index) override {
        if (const Slot* const slot = value(op)) return target_.read(*slot);
        if (target_.kernel().parameter(symbol).access == Access::read)
            return Cloner::load(op, symbol, index);
        return updated_.contains(symbol) ? current(op, symbol, index)
                                         : Cloner::own_load(op, symbol, index);
    }
    void own_store(const Op& op, int symbol, Value index, Value stored) override {
        if (const int to = piece_.passed(static_cast<std::size_t>(op.symbol)); to >= 0) {
            const auto [slot, fresh] = values_.try_emplace({to, op.component}, -1);
            if (fresh) slot->second = target_.declare(op.type);
            target_.write(slot->second, stored);
        } else if (const Slot* const slot = value(op)) {
            target_.write(*slot, stored);
        } else {
            Cloner::own_store(op, symbol, index, stored);
        }
    }
    void accumulate(const Op& op, int symbol, Value index, Value term) override {
        if (const Slot* const slot = value(op)) {
            target_.write(*slot, target_.binary(OpCode::add, target_.read(*slot), term));
            return;
        }
        if (!updated_.contains(symbol)) return Cloner::accumulate(op, symbol, index, term);
        const Value old = current(op, symbol, index);
        target_.write(target_.own(symbol, index, op.component),
                      target_.binary(OpCode::add, old, term));
    }

private:
    Value current(const Op& op, int symbol, Value index) {
        return target_.read(target_.own(symbol, index, op.component));
    }
    // The value of an element that has no memory.
    const Slot* value(const Op& op) const {
        const auto slot =
            values_.find({piece_.buffer[static_cast<std::size_t>(op.symbol)], op.component});
        return slot == values_.end() ? nullptr : &slot->second;
    }

    const FusionPiece& piece_;
    const std::set<int>& updated_;  // parameters that hold own elements for several pieces
    Values& values_;
};

}  // namespace

std::string cannot_fuse(const std::vector<FusionPiece>& pieces, const std::set<int>& zero) {
    Buffers buffers;
    return add_pieces(pieces, zero, buffers);
}

FusedKernel fuse(const std::string& name, const std::vector<FusionPiece>& pieces,
                 const std::set<int>& zero) {
    Buffers buffers;
    if (const std::string why = add_pieces(pieces, zero, buffers); !why.empty())
        throw Error("kernels cannot be fused: " + why).in_kernel(name);

    FusedKernel fused;
    Builder builder(name, pieces[0].kernel->precision);
    builder.contract = false;
    const auto add_parameter = [&](Parameter parameter) {
        const std::string base = parameter.name;
        for (int n = 2; builder.kernel().find_parameter(parameter.name) >= 0; ++n)
            parameter.name = base + " (" + std::to_string(n) + ")";
        return builder.add_parameter(parameter);
    };
    std::map<int, int> own;                       // buffers of own elements, buffers only read
    std::map<std::pair<int, Access>, int> reads;  // -> parameters
    std::set<int> updated;
    Values values;
    for (const FusionPiece& piece : pieces) {
        std::vector<int>& list = fused.parameters.emplace_back();
        const std::vector<Use> uses = uses_of(*piece.kernel);
        for (std::size_t p = 0; p < uses.size(); ++p) {
            const int buffer = piece.buffer[p];
            Parameter parameter = piece.kernel->parameters[p];
            list.push_back(-1);
            Use use = uses[p];
            if (piece.passed(p) >= 0) use.own_write = false;
            if (buffer < 0 || !use.touches()) continue;
            const Shared& shared = buffers[buffer];
            if (shared.is_passed) continue;
            if (zero.contains(buffer)) {
                for (int c = 0; c < parameter.components; ++c)
                    if (const auto [slot, fresh] = values.try_emplace({buffer, c}, -1); fresh) {
                        slot->second = builder.declare(parameter.type);
                        builder.write(slot->second, builder.zero(parameter.type));
                    }
                continue;
            }
            // Own elements that no op stores, such as the adjoint of x += y, are only read.
            if (parameter.access == Access::read_write && !shared.use.stores())
                parameter.access = Access::read;
            const bool reads_only =
                parameter.access == Access::read || parameter.access == Access::value;
            if (shared.pieces > 1 && shared.use.stores()) {
                const auto [entry, fresh] = own.try_emplace(buffer, -1);
                if (fresh) {
                    if (parameter.access != Access::write) parameter.access = Access::read_write;
                    entry->second = add_parameter(parameter);
                    updated.insert(entry->second);
                }
                list.back() = entry->second;
            } else if (reads_only) {
                const auto [entry, fresh] = reads.try_emplace({buffer, parameter.access}, -1);
                if (fresh) entry->second = add_parameter(parameter);
                list.back() = entry->second;
            } else {
                list.back() = add_parameter(parameter);
            }
        }
    }
    for (std::size_t k = 0; k < pieces.size(); ++k)
        Joiner(pieces[k], builder, fused.parameters[k], updated, values).region(0);
    fused.kernel = simplify(builder.finish(), true);
    verify(fused.kernel, "fusion");
    return fused;
}

}  // namespace hindcast::ir
