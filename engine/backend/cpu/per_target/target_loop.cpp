#include "engine/backend/cpu/per_target/target_loop.hpp"

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
class TargetLoop::Body final : public ir::Cloner {
public:
    struct Place {  // of an entry in its tables
        Value cell, run;
    };

    // `mirrored`: every entry is evaluated as if the target were its item's first row.
    Body(TargetLoop& pull, bool copies, bool mirrored, ir::Builder& builder)
        : Cloner(pull.plan_.kernel, builder), pull_(pull), copies_(copies), mirrored_(mirrored) {
        effects = false;
        own_as_load = true;
    }

    // Before the loop over the slots: the target's own elements, and those of the other end of the
    // first entry.
    void before_slots(const Place& first) {
        if (!pull_.pairs_) return;
        for (const Op& op : source_.ops) {
            if (op.code != OpCode::load || row_of(op) < 0) continue;
            const std::pair<int, int> element{op.symbol, op.component};
            if (mine_.count(element) != 0) continue;
            mine_[element] = target_.load(op.symbol, op.component, target_.item());
            others_[element] = target_.declare(op.type);
            const int components = source_.parameter(op.symbol).components;
            pull_.other_components_ =
                others_.size() == 1 || pull_.other_components_ == components ? components : 1;
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
        item = table(pull_.item_);
        const std::vector<Row>& rows = pull_.rows_;
        for (std::size_t r = 0; r < rows.size(); ++r) declare_terms(r);
        region(0);
        for (const int symbol : pull_.symbols_) add_terms(symbol);
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
                target_.compare(OpCode::lt, item, target_.parameter(pull_.items_parameter_, 0));
            const Value above = target_.compare(OpCode::le, target_.integer(0), item);
            target_.if_(
                target_.binary(OpCode::bit_and, above, below), [&] { region(0); }, [] {});
        } else {
            region(0);
        }
        for (const int symbol : pull_.symbols_)
            for (const Value site : pull_.plan_.rows[symbol][shift.row].sites)
                if (site >= 0)
                    add_term(symbol, source_.op(site).component, target_.read(terms_.at(site)));
    }

protected:
    Value load(const Op& op, int symbol, Value index) override {
        if (is_own(source_, op) && !pull_.shifted()) {
            for (const Column& c : pull_.columns_)
                if (c.symbol == op.symbol && c.component == op.component) return table(c.parameter);
            if (copies_ || !ir::is_real(op.type)) {
                const int p = static_cast<int>(target_.kernel().parameters.size());
                const std::string name =
                    source_.parameter(op.symbol).name + ".entries." + std::to_string(op.component);
                target_.add_parameter({name, Access::read, op.type});
                pull_.columns_.push_back({op.symbol, op.component, p});
                return table(p);
            }
        }
        const int r = pull_.pairs_ ? row_of(op) : -1;
        if (r < 0) {
            pull_.elsewhere_.push_back(symbol);
            return target_.load(symbol, op.component, index);
        }
        std::vector<int>& at_target = pull_.at_target_;
        if (std::find(at_target.begin(), at_target.end(), symbol) == at_target.end())
            at_target.push_back(symbol);
        const Value other = other_.at({op.symbol, op.component});
        const Value mine = mine_.at({op.symbol, op.component});
        if (mirrored_) return r == 0 ? mine : other;
        return r == 0 ? target_.select(is_row(0), mine, other)
                      : target_.select(is_row(0), other, mine);
    }

    void after(Value site, const Op& op) override {
        if (const auto term = terms_.find(site); term != terms_.end())
            target_.write(term->second, at(op.operand[1]));
        const auto reduced = std::find(pull_.reduced_.begin(), pull_.reduced_.end(), site);
        if (reduced == pull_.reduced_.end()) return;
        const int to = pull_.first_terms_ + static_cast<int>(reduced - pull_.reduced_.begin());
        reduced_.emplace_back(to, at(op.operand[0]));
    }

private:
    void store_term(int to, Value term) {
        const auto store = [&](Value place) {
            target_.effect(OpCode::store_once, to, 0, place, term);
        };
        if (!pull_.mirrored_) {
            Value stores = valid_;
            if (pull_.rows_.size() > 1) stores = target_.binary(OpCode::bit_and, is_row(0), valid_);
            target_.if_(
                stores, [&] { store(item); }, [] {});
            return;
        }
        const Value run = target_.load(pull_.term_run_, 0, run_);
        const auto is = [&](std::int32_t what) {
            return target_.compare(OpCode::eq, run, target_.integer(what));
        };
        const auto apart = [&] {
            target_.if_(
                is_row(0), [&] { store(table(pull_.row_)); }, [] {});  // not of padding
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
        if (!pull_.mirrored_)
            return target_.compare(OpCode::eq, table(pull_.row_), target_.integer(r));
        const Value first = target_.compare(OpCode::le, target_.integer(0), table(pull_.row_));
        return r == 0 ? first : target_.emit(OpCode::logical_not, Type::boolean, first);
    }
    // The table holds places of whole elements: the emitter takes them as they are.
    void load_others(const Place& place) {
        if (others_.empty()) return;
        const auto load_at = [&](Value index) {
            for (const auto& [element, slot] : others_)
                target_.write(slot, target_.load(element.first, element.second, index));
        };
        const Value run = target_.load(pull_.run_, 0, place.run);
        target_.if_(
            target_.compare(OpCode::eq, run, target_.integer(no_run)),
            [&] {
                const int components = pull_.other_components_;
                Value other = target_.load(pull_.other_, 0, place.cell);
                if (components > 1)
                    other = target_.binary(OpCode::div, other, target_.integer(components));
                load_at(other);
            },
            [&] { load_at(target_.binary(OpCode::add, target_.item(), run)); });
    }
    // The row at whose index an op loads a real value.
    int row_of(const Op& op) const {
        for (int r = 0; r < 2; ++r)
            if (op.operand[0] == pull_.rows_[r].index && ir::is_real(op.type) &&
                source_.parameter(op.symbol).access == Access::read)
                return r;
        return -1;
    }

    void add_terms(int symbol) {
        const std::vector<Row>& rows = pull_.plan_.rows[symbol];
        const Parameter& p = source_.parameter(symbol);
        for (int c = 0; c < p.components; ++c) {
            Value term = ir::no_value;
            bool any = false;
            for (std::size_t r = 0; r < (mirrored_ ? 1 : rows.size()); ++r) {
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
        for (const int symbol : pull_.symbols_)
            for (const Value site : pull_.plan_.rows[symbol][row].sites)
                if (site >= 0) {
                    const Type type = source_.op(site).type;
                    terms_[site] = target_.declare(type);
                    target_.write(terms_[site], target_.real_constant(-0.0, type));
                }
    }

    TargetLoop& pull_;
    bool copies_, mirrored_;
    Value at_ = ir::no_value, run_ = ir::no_value, valid_ = ir::no_value;
    std::map<Value, ir::Slot> terms_;             // per site
    std::vector<std::pair<int, Value>> reduced_;  // terms of reductions, and where they are stored
    // (symbol, component) at the target's index and at the other end of the entry; others_: at that
    // of the next entry.
    std::map<std::pair<int, int>, Value> mine_, other_;
    std::map<std::pair<int, int>, ir::Slot> others_;
};

TargetLoop::TargetLoop(const Plan& plan, std::vector<int> symbols, bool copies,
                       std::vector<Value> reduced)
    : plan_(plan),
      symbols_(std::move(symbols)),
      rows_(plan.rows[symbols_.front()]),
      gather_(plan, symbols_.front()),
      pairs_(rows_.size() == 2 && rows_[0].index != rows_[1].index),
      reduced_(std::move(reduced)),
      terms_(reduced_.size()) {
    find_shifts();
    if (shifted()) pairs_ = false;
    mirrored_ = pairs_ && plan_.passes.has(Pass::symmetry) && is_mirrored(plan_, symbols_);
    kernel_ = record(copies, true);
    if (shifted()) inner_ = record(copies, false);
    pays_ = worth_it();
}

void TargetLoop::find_shifts() {
    if (!plan_.passes.has(Pass::shifts)) return;
    const Kernel& kernel = plan_.kernel;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        const Op& index = kernel.op(rows_[r].index);
        std::int64_t offset = 0;
        if (index.code == OpCode::add || index.code == OpCode::sub) {
            int number = 1;
            if (index.code == OpCode::add && kernel.op(index.operand[0]).code == OpCode::constant)
                number = 0;
            const Op &n = kernel.op(index.operand[number]),
                     &i = kernel.op(index.operand[1 - number]);
            if (i.code != OpCode::item || n.code != OpCode::constant) return shifts_.clear();
            offset = ir::integer_of(n.bits, n.type);
            if (index.code == OpCode::sub) offset = -offset;
        } else if (index.code != OpCode::item) {
            return shifts_.clear();
        }
        shifts_.push_back({offset, r});
    }
    // A target meets its items in ascending order.
    std::stable_sort(shifts_.begin(), shifts_.end(),
                     [](const Shift& a, const Shift& b) { return a.offset > b.offset; });
}

Kernel TargetLoop::record(bool copies, bool checked) {
    const Kernel& source = plan_.kernel;
    ir::Builder builder(source.name + (checked ? ".pull" : ".pull_inner"), source.precision);
    builder.contract = false;
    for (Parameter p : source.parameters) {
        const auto symbol = static_cast<int>(builder.kernel().parameters.size());
        const bool ours = std::find(symbols_.begin(), symbols_.end(), symbol) != symbols_.end();
        if (ours)
            p.access = p.access == Access::sum ? Access::write : Access::read_write;
        else if (p.access != Access::value)
            p.access = Access::read;
        builder.add_parameter(p);
    }
    const auto add = [&](const char* name, Access access) {
        return builder.add_parameter({name, access, Type::i32});
    };
    slots_parameter_ = add("entries.more", Access::value);
    items_parameter_ = add("entries.items", Access::value);
    most_ = add("entries.most", Access::read);
    degree_ = add("entries.count", Access::read);
    item_ = add("entries.item", Access::read);
    row_ = add("entries.row", Access::read);
    other_ = add("entries.other", Access::read);
    run_ = add("entries.run", Access::read);
    term_run_ = add("entries.term_run", Access::read);
    first_terms_ = term_run_ + 1;
    for (std::size_t k = 0; k < reduced_.size(); ++k)
        builder.add_parameter({"terms." + std::to_string(k), Access::slice,
                               source.op(source.op(reduced_[k]).operand[0]).type});
    for (const int symbol : symbols_)
        if (source.parameter(symbol).access == Access::sum)
            for (int c = 0; c < source.parameter(symbol).components; ++c)
                builder.write(builder.own(symbol, builder.item(), c),
                              builder.zero(source.parameter(symbol).type));
    if (shifted()) {
        Body body(*this, copies, false, builder);
        for (const Shift& shift : shifts_) body.record(shift, checked);
    } else {
        walk_all(builder, copies);
    }
    Kernel kernel = builder.finish();
    ir::remove_dead_ops(kernel, false);
    ir::verify(kernel, "pulling");
    return kernel;
}

void TargetLoop::walk_all(ir::Builder& builder, bool copies) {
    Body body(*this, copies, mirrored_, builder);
    struct Sum {
        ir::Slot slot;
        Value start;
    };
    std::vector<Sum> sums;  // sums that an exact loop may change
    for (const int symbol : symbols_) {
        const Parameter& p = plan_.kernel.parameter(symbol);
        if (!mirrored_ || p.access == Access::sum) continue;
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
void TargetLoop::walk(ir::Builder& builder, Body& body) const {
    const Value item = builder.item();
    const Value block = builder.binary(OpCode::bit_and, item, builder.integer(-block_targets));
    // Table::cell: of a block's first target, then this slot's row, then the target's lane.
    const Value first =
        builder.binary(OpCode::add, item,
                       builder.binary(OpCode::mul, block, builder.parameter(slots_parameter_, 0)));
    const Value degree = builder.load(degree_, 0, item);
    const Value number = builder.binary(OpCode::div, block, builder.integer(block_targets));
    const Value runs =
        builder.binary(OpCode::add, number,
                       builder.binary(OpCode::mul, number, builder.parameter(slots_parameter_, 0)));
    body.before_slots({first, runs});
    const Value last = builder.parameter(slots_parameter_, 0);
    builder.for_(builder.load(most_, 0, block), 0, [&](Value slot) {
        const auto place = [&](Value k) {
            const Value rows = builder.binary(OpCode::mul, k, builder.integer(block_targets));
            return Body::Place{builder.binary(OpCode::add, first, rows),
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

// True if evaluating items once per row costs less than sending their terms through memory.
bool TargetLoop::worth_it() const {
    double work = 0;
    int loops = 0;
    for (const ir::Region& region : kernel_.regions)
        for (const Value v : region.ops) {
            const Op& op = kernel_.op(v);
            loops +=
                op.code == OpCode::for_ || op.code == OpCode::while_ || op.code == OpCode::local;
            const bool slow =
                (op.code == OpCode::div && ir::is_real(op.type)) || op.code == OpCode::sqrt;
            // Side by side, elements are loaded where others would be gathered.
            const bool gathers = op.code == OpCode::load && op.symbol < degree_ && !shifted() &&
                                 kernel_.op(op.operand[0]).code != OpCode::add;
            // Masks, most of which guard against zero, cost little beside the masked ops.
            const bool masks = op.code == OpCode::select || op.type == Type::boolean;
            work += slow ? 4 : gathers ? 8 : masks ? 0.5 : 1;
        }
    const auto rows = static_cast<double>(rows_.size());
    if (shifted()) return loops == 0 && work <= rows * scratch_cost;
    return loops == passes_ && work / passes_ * (rows - 1) <= rows * scratch_cost;
}

namespace {

// If only reductions of one term per item remain, the first pulled loop stores the terms: it has
// computed their operands.
void take_terms(PerTarget& pulled) {
    Kernel& rest = pulled.rest;
    std::vector<Value> reduced;
    std::vector<std::pair<int, int>> seen;
    for (const Value v : rest.region(0).ops) {
        const Op& op = rest.op(v);
        if (op.nest >= 0) return;
        if (!ir::is_effect(op.code)) continue;
        const std::pair<int, int> to{op.symbol, op.component};
        if (op.code != OpCode::reduce || std::find(seen.begin(), seen.end(), to) != seen.end())
            return;
        seen.push_back(to);
        reduced.push_back(v);
    }
    if (reduced.empty()) return;
    const auto add_op = [&](const Op& op) {
        rest.ops.push_back(op);
        return static_cast<Value>(rest.ops.size() - 1);
    };
    Op item;
    item.code = OpCode::item;
    item.type = Type::i32;
    Value own = ir::no_value;
    for (std::size_t v = 0; v < rest.ops.size() && own < 0; ++v)
        if (rest.ops[v].code == OpCode::item) own = static_cast<Value>(v);
    if (own < 0) own = add_op(item);
    for (std::size_t k = 0; k < reduced.size(); ++k) {
        Op load;
        load.code = OpCode::load;
        load.type = rest.op(rest.op(reduced[k]).operand[0]).type;
        load.operand[0] = own;
        load.symbol = static_cast<std::int32_t>(rest.parameters.size());
        load.place = rest.op(reduced[k]).place;
        rest.parameters.push_back({"terms." + std::to_string(k), Access::read, load.type});
        const Value term = add_op(load);
        rest.op(reduced[k]).operand[0] = term;
        std::vector<Value>& ops = rest.region(0).ops;
        ops.insert(std::find(ops.begin(), ops.end(), reduced[k]), term);
    }
    pulled.reduced = std::move(reduced);
}

}  // namespace

PerTarget split_per_target(const Plan& plan) {
    PerTarget pulled;
    if (plan.checked) return pulled;
    const Kernel& kernel = plan.kernel;
    std::vector<std::vector<int>> candidates;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        if (plan.rows[p].empty()) continue;
        const auto same_rows = [&](const std::vector<int>& group) {
            return std::equal(plan.rows[p].begin(), plan.rows[p].end(), plan.rows[group[0]].begin(),
                              plan.rows[group[0]].end(),
                              [](const Row& a, const Row& b) { return a.index == b.index; });
        };
        const auto found = std::find_if(candidates.begin(), candidates.end(), same_rows);
        if (found == candidates.end())
            candidates.push_back({static_cast<int>(p)});
        else
            found->push_back(static_cast<int>(p));
    }
    std::vector<char> gone(kernel.parameters.size(), 0);
    bool first_has_tables = false;
    for (const std::vector<int>& group : candidates) {
        const TargetLoop pull(plan, group, true, {});
        if (!pull.pays()) continue;
        if (pulled.groups.empty()) first_has_tables = !pull.shifted();
        pulled.groups.push_back(group);
        for (const int symbol : group) gone[symbol] = 1;
    }
    if (pulled.groups.empty()) return pulled;
    pulled.rest = kernel;
    for (ir::Region& region : pulled.rest.regions)
        std::erase_if(region.ops, [&](Value v) {
            const Op& op = kernel.op(v);
            return op.code == OpCode::accumulate && gone[op.symbol] != 0;
        });
    for (std::size_t p = 0; p < gone.size(); ++p)
        if (gone[p] != 0) pulled.rest.parameters[p].access = Access::read;
    ir::remove_dead_ops(pulled.rest, true);
    if (first_has_tables) take_terms(pulled);
    ir::remove_dead_ops(pulled.rest, true);
    pulled.has_rest = !pulled.rest.region(0).ops.empty();
    return pulled;
}

}  // namespace hindcast::backend::cpu
