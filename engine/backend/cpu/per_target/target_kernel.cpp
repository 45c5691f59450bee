#include "engine/backend/cpu/per_target/target_kernel.hpp"

#include <algorithm>
#include <map>

#include "engine/backend/cpu/per_target/symmetry.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/ir/builder.hpp"
#include "engine/ir/clone.hpp"

namespace hindcast::backend::cpu {

using ir::Access;
using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Parameter;
using ir::Type;
using ir::Value;

namespace {

// A term that goes through scratch memory costs about as much as so many ops.
constexpr double scratch_cost = 200;

bool is_own(const Kernel& kernel, const Op& op) {
    return kernel.op(op.operand[0]).code == OpCode::item;
}

}  // namespace

// Records the terms of an item: the source's body for the item of the entry, not the launch's.
class TargetKernel::Body final : public ir::Cloner {
public:
    struct Place {  // of an entry in its tables
        Value cell, run;
    };

    // `symmetric`: every entry is evaluated as if the target were its item's first row.
    Body(TargetKernel& loop, bool copies, bool symmetric, ir::Builder& builder)
        : Cloner(loop.plan.kernel, builder), loop_(loop), copies_(copies), symmetric_(symmetric) {
        effects = false;
        own_as_load = true;
    }

    // Before the loop over the slots: the target's own elements, and those of the other end of the
    // first entry.
    void before_slots(const Place& first) {
        if (!loop_.pairs) return;
        for (const Op& op : source_.ops) {
            if (op.code != OpCode::load || row_of(op) < 0) continue;
            const std::pair<int, int> element{op.symbol, op.component};
            if (mine_.count(element) != 0) continue;
            mine_[element] = target_.load(op.symbol, op.component, target_.item());
            others_[element] = target_.declare(op.type);
            const int components = source_.parameter(op.symbol).components;
            loop_.other_components =
                others_.size() == 1 || loop_.other_components == components ? components : 1;
        }
        load_others(first);
    }

    // The entry in a cell of the tables; `valid` is false for padding. The values that the next
    // cell needs from the other end are loaded here, so that the processor does not wait for them.
    void record(const Place& place, const Place& next, Value valid) {
        at_ = place.cell;
        run_ = place.run;
        valid_ = valid;
        for (const auto& [element, slot] : others_) other_[element] = target_.read(slot);
        load_others(next);
        item = table(loop_.parameters.item);
        const std::vector<Row>& rows = loop_.rows;
        for (std::size_t r = 0; r < rows.size(); ++r) declare_terms(r);
        region(0);
        for (const int symbol : loop_.symbols) add_terms(symbol);
        // Last, since a branch cuts a loop in two for the compiler.
        for (const auto& [to, term] : reduced_) store_term(to, term);
        reduced_.clear();
    }

    // `checked`: items may be missing.
    void record(const Shift& shift, bool checked) {
        const auto offset = static_cast<std::int32_t>(shift.offset);
        terms_.clear();
        declare_terms(shift.row);
        item = target_.binary(OpCode::add, target_.item(), target_.integer(-offset));
        if (checked) {
            const Value below =
                target_.compare(OpCode::lt, item, target_.parameter(loop_.parameters.items, 0));
            const Value above = target_.compare(OpCode::le, target_.integer(0), item);
            target_.if_(
                target_.binary(OpCode::bit_and, above, below), [&] { region(0); }, [] {});
        } else {
            region(0);
        }
        for (const int symbol : loop_.symbols)
            for (const Value site : loop_.plan.rows[symbol][shift.row].sites)
                if (site >= 0)
                    add_term(symbol, source_.op(site).component, target_.read(terms_.at(site)));
    }

protected:
    Value load(const Op& op, int symbol, Value index) override {
        if (is_own(source_, op) && !loop_.shifted()) {
            for (const Column& c : loop_.columns)
                if (c.symbol == op.symbol && c.component == op.component) return table(c.parameter);
            if (copies_ || !ir::is_real(op.type)) {
                const int p = static_cast<int>(target_.kernel().parameters.size());
                const std::string name =
                    source_.parameter(op.symbol).name + ".entries." + std::to_string(op.component);
                target_.add_parameter({name, Access::read, op.type});
                loop_.columns.push_back({op.symbol, op.component, p});
                return table(p);
            }
        }
        const int r = loop_.pairs ? row_of(op) : -1;
        if (r < 0) {
            loop_.elsewhere.push_back(symbol);
            return target_.load(symbol, op.component, index);
        }
        std::vector<int>& at_target = loop_.at_target;
        if (std::find(at_target.begin(), at_target.end(), symbol) == at_target.end())
            at_target.push_back(symbol);
        const Value other = other_.at({op.symbol, op.component});
        const Value mine = mine_.at({op.symbol, op.component});
        if (symmetric_) return r == 0 ? mine : other;
        return r == 0 ? target_.select(is_row(0), mine, other)
                      : target_.select(is_row(0), other, mine);
    }

    void after(Value site, const Op& op) override {
        if (const auto term = terms_.find(site); term != terms_.end())
            target_.write(term->second, at(op.operand[1]));
        const auto reduced = std::find(loop_.reduced.begin(), loop_.reduced.end(), site);
        if (reduced == loop_.reduced.end()) return;
        const int to =
            loop_.parameters.first_terms + static_cast<int>(reduced - loop_.reduced.begin());
        reduced_.emplace_back(to, at(op.operand[0]));
    }

private:
    void store_term(int to, Value term) {
        const auto store = [&](Value place) {
            target_.effect(OpCode::store_once, to, 0, place, term);
        };
        if (!loop_.symmetric) {
            Value stores = valid_;
            if (loop_.rows.size() > 1) stores = target_.binary(OpCode::bit_and, is_row(0), valid_);
            target_.if_(
                stores, [&] { store(item); }, [] {});
            return;
        }
        const Value run = target_.load(loop_.parameters.term_run, 0, run_);
        const auto is = [&](std::int32_t what) {
            return target_.compare(OpCode::eq, run, target_.integer(what));
        };
        const auto apart = [&] {
            target_.if_(
                is_row(0), [&] { store(table(loop_.parameters.row)); }, [] {});  // not of padding
        };
        const auto side_by_side = [&] {
            target_.if_(
                is(no_term), [] {},
                [&] { store(target_.binary(OpCode::add, target_.item(), run)); });
        };
        target_.if_(is(no_run), apart, side_by_side);
    }
    Value table(int parameter) { return target_.load(parameter, 0, at_); }
    Value is_row(int r) {
        if (!loop_.symmetric)
            return target_.compare(OpCode::eq, table(loop_.parameters.row), target_.integer(r));
        const Value first =
            target_.compare(OpCode::le, target_.integer(0), table(loop_.parameters.row));
        return r == 0 ? first : target_.emit(OpCode::logical_not, Type::boolean, first);
    }
    // The table holds places of whole elements: the emitter takes them as they are.
    void load_others(const Place& place) {
        if (others_.empty()) return;
        const auto load_at = [&](Value index) {
            for (const auto& [element, slot] : others_)
                target_.write(slot, target_.load(element.first, element.second, index));
        };
        const Value run = target_.load(loop_.parameters.run, 0, place.run);
        target_.if_(
            target_.compare(OpCode::eq, run, target_.integer(no_run)),
            [&] {
                const int components = loop_.other_components;
                Value other = target_.load(loop_.parameters.other, 0, place.cell);
                if (components > 1)
                    other = target_.binary(OpCode::div, other, target_.integer(components));
                load_at(other);
            },
            [&] { load_at(target_.binary(OpCode::add, target_.item(), run)); });
    }
    // The row at whose index an op loads a real value.
    int row_of(const Op& op) const {
        for (int r = 0; r < 2; ++r)
            if (op.operand[0] == loop_.rows[r].index && ir::is_real(op.type) &&
                source_.parameter(op.symbol).access == Access::read)
                return r;
        return -1;
    }

    void add_terms(int symbol) {
        const std::vector<Row>& rows = loop_.plan.rows[symbol];
        const Parameter& p = source_.parameter(symbol);
        for (int c = 0; c < p.components; ++c) {
            Value term = ir::no_value;
            bool any = false;
            for (std::size_t r = 0; r < (symmetric_ ? 1 : rows.size()); ++r) {
                const Value site = rows[r].sites[c];
                const Value x =
                    site >= 0 ? target_.read(terms_.at(site)) : target_.real_constant(-0.0, p.type);
                any |= site >= 0;
                const int row = static_cast<int>(r);
                term = r == 0 ? x : target_.select(is_row(row), x, term);
            }
            if (any) add_term(symbol, c, term);
        }
    }
    void add_term(int symbol, int component, Value term) {
        const ir::Slot sum = target_.own(symbol, target_.item(), component);
        const Value before = target_.read(sum);
        const Value after = target_.binary(OpCode::add, before, term);
        target_.write(sum, valid_ < 0 ? after : target_.select(valid_, after, before));
    }
    void declare_terms(std::size_t row) {
        for (const int symbol : loop_.symbols)
            for (const Value site : loop_.plan.rows[symbol][row].sites)
                if (site >= 0) {
                    const Type type = source_.op(site).type;
                    terms_[site] = target_.declare(type);
                    target_.write(terms_[site], target_.real_constant(-0.0, type));
                }
    }

    TargetKernel& loop_;
    bool copies_, symmetric_;
    Value at_ = ir::no_value, run_ = ir::no_value, valid_ = ir::no_value;
    std::map<Value, ir::Slot> terms_;             // per site
    std::vector<std::pair<int, Value>> reduced_;  // terms of reductions, and where they are stored
    // (symbol, component) at the target's index and at the other end of the entry; others_: at that
    // of the next entry.
    std::map<std::pair<int, int>, Value> mine_, other_;
    std::map<std::pair<int, int>, ir::Slot> others_;
};

TargetKernel::TargetKernel(const Plan& of, std::vector<int> targets, bool copies,
                           std::vector<Value> terms)
    : plan(of),
      symbols(std::move(targets)),
      rows(of.rows[symbols.front()]),
      reduced(std::move(terms)) {
    find_shifts();
    pairs = !shifted() && rows.size() == 2 && rows[0].index != rows[1].index;
    symmetric = pairs && plan.passes.has(Pass::symmetry) && is_symmetric(plan, symbols);
    kernel = record(copies, true);
    if (shifted()) inner = record(copies, false);
}

void TargetKernel::find_shifts() {
    if (!plan.passes.has(Pass::shifts)) return;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto offset = offset_from_item(plan.kernel, rows[r].index);
        if (!offset) return shifts.clear();
        shifts.push_back({*offset, r});
    }
    // A target meets its items in ascending order.
    std::stable_sort(shifts.begin(), shifts.end(),
                     [](const Shift& a, const Shift& b) { return a.offset > b.offset; });
}

Kernel TargetKernel::record(bool copies, bool checked) {
    const Kernel& source = plan.kernel;
    ir::Builder builder(source.name + (checked ? ".per_target" : ".per_target_inner"),
                        source.precision);
    builder.contract = false;
    for (Parameter p : source.parameters) {
        const auto symbol = static_cast<int>(builder.kernel().parameters.size());
        const bool ours = std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
        if (ours)
            p.access = p.access == Access::sum ? Access::write : Access::read_write;
        else if (p.access != Access::value)
            p.access = Access::read;
        builder.add_parameter(p);
    }
    const auto add = [&](const char* name, Access access) {
        return builder.add_parameter({name, access, Type::i32});
    };
    parameters.more_slots = add("entries.more", Access::value);
    parameters.items = add("entries.items", Access::value);
    parameters.most = add("entries.most", Access::read);
    parameters.degree = add("entries.count", Access::read);
    parameters.item = add("entries.item", Access::read);
    parameters.row = add("entries.row", Access::read);
    parameters.other = add("entries.other", Access::read);
    parameters.run = add("entries.run", Access::read);
    parameters.term_run = add("entries.term_run", Access::read);
    parameters.first_terms = parameters.term_run + 1;
    for (std::size_t k = 0; k < reduced.size(); ++k)
        builder.add_parameter({"terms." + std::to_string(k), Access::slice,
                               source.op(source.op(reduced[k]).operand[0]).type});
    for (const int symbol : symbols)
        if (source.parameter(symbol).access == Access::sum)
            for (int c = 0; c < source.parameter(symbol).components; ++c)
                builder.write(builder.own(symbol, builder.item(), c),
                              builder.zero(source.parameter(symbol).type));
    if (shifted()) {
        Body body(*this, copies, false, builder);
        for (const Shift& shift : shifts) body.record(shift, checked);
    } else {
        walk_all(builder, copies);
    }
    Kernel recorded = builder.finish();
    ir::remove_dead_ops(recorded, false);
    ir::verify(recorded, "per target");
    return recorded;
}

void TargetKernel::walk_all(ir::Builder& builder, bool copies) {
    Body body(*this, copies, symmetric, builder);
    struct Sum {
        ir::Slot slot;
        Value start;
    };
    std::vector<Sum> sums;  // sums that an exact loop may change
    for (const int symbol : symbols) {
        const Parameter& p = plan.kernel.parameter(symbol);
        if (!symmetric || p.access == Access::sum) continue;
        for (int c = 0; c < p.components; ++c) {
            const ir::Slot slot = builder.own(symbol, builder.item(), c);
            sums.push_back({slot, builder.read(slot)});
        }
    }
    walk(builder, body);
    passes_ = sums.empty() ? 1 : 2;
    if (sums.empty()) return;
    Value again = ir::no_value;
    for (const Sum& sum : sums) {
        const Type type = builder.type_of(sum.start);
        const Type bits = type == Type::f64 ? Type::i64 : Type::i32;
        const std::int64_t sign = type == Type::f64 ? INT64_MIN : INT32_MIN;
        const Value was =
            builder.compare(OpCode::eq, builder.emit(OpCode::bitcast, bits, sum.start),
                            builder.integer(sign, bits));
        const Value is = builder.compare(OpCode::eq, builder.read(sum.slot), builder.zero(type));
        const Value wrong = builder.binary(OpCode::bit_and, was, is);
        again = again < 0 ? wrong : builder.binary(OpCode::bit_or, again, wrong);
    }
    builder.if_(
        again,
        [&] {
            for (const Sum& sum : sums) builder.write(sum.slot, sum.start);
            Body exact(*this, copies, false, builder);
            walk(builder, exact);
        },
        [] {});
}

// All lanes of a vector walk through the same number of slots.
void TargetKernel::walk(ir::Builder& builder, Body& body) const {
    const Value item = builder.item();
    const Value block = builder.binary(OpCode::bit_and, item, builder.integer(-block_targets));
    // Table::cell: of a block's first target, then this slot's row, then the target's lane.
    const Value first = builder.binary(
        OpCode::add, item,
        builder.binary(OpCode::mul, block, builder.parameter(parameters.more_slots, 0)));
    const Value degree = builder.load(parameters.degree, 0, item);
    const Value number = builder.binary(OpCode::div, block, builder.integer(block_targets));
    const Value runs = builder.binary(
        OpCode::add, number,
        builder.binary(OpCode::mul, number, builder.parameter(parameters.more_slots, 0)));
    body.before_slots({first, runs});
    const Value last = builder.parameter(parameters.more_slots, 0);
    builder.for_(builder.load(parameters.most, 0, block), 0, [&](Value slot) {
        const auto place = [&](Value k) {
            const Value cells = builder.binary(OpCode::mul, k, builder.integer(block_targets));
            return Body::Place{builder.binary(OpCode::add, first, cells),
                               builder.binary(OpCode::add, runs, k)};
        };
        // Behind the last slot lies the next block's first one, whose runs may lead out of the
        // array from here.
        const Value ahead = builder.binary(OpCode::add, slot, builder.integer(1));
        body.record(place(slot),
                    place(builder.select(builder.compare(OpCode::lt, ahead, last), ahead, last)),
                    builder.compare(OpCode::lt, slot, degree));
    });
}

bool TargetKernel::pays() const {
    double work = 0;
    int loops = 0;
    for (const ir::Region& region : kernel.regions)
        for (const Value v : region.ops) {
            const Op& op = kernel.op(v);
            loops +=
                op.code == OpCode::for_ || op.code == OpCode::while_ || op.code == OpCode::local;
            const bool slow =
                (op.code == OpCode::div && ir::is_real(op.type)) || op.code == OpCode::sqrt;
            // Side by side, elements are loaded where others would be gathered.
            const bool gathers = op.code == OpCode::load && op.symbol < parameters.degree &&
                                 !shifted() && kernel.op(op.operand[0]).code != OpCode::add;
            // Masks, most of which guard against zero, cost little beside the masked ops.
            const bool masks = op.code == OpCode::select || op.type == Type::boolean;
            work += slow ? 4 : gathers ? 8 : masks ? 0.5 : 1;
        }
    const auto times = static_cast<double>(rows.size());
    if (shifted()) return loops == 0 && work <= times * scratch_cost;
    return loops == passes_ && work / passes_ * (times - 1) <= times * scratch_cost;
}

}  // namespace hindcast::backend::cpu
