#include "engine/backend/pull.hpp"

#include <algorithm>
#include <cstring>
#include <map>

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

constexpr std::size_t kept_tables = 4;
constexpr double padding_limit = 4;       // slots that may stand in the tables for each entry
constexpr std::uint32_t most_slots = 64;  // more per target: few targets, little to share out
// A term that goes through scratch memory costs about as much as so many ops.
constexpr double scratch_cost = 200;

bool is_own(const Kernel& kernel, const Op& op) {
    return kernel.op(op.operand[0]).code == OpCode::item;
}

}  // namespace

// Records what an item adds: the source's body with the item of the entry for the launch's own.
class Pull::Body final : public ir::Cloner {
public:
    Body(Pull& pull, bool copies, ir::Builder& builder)
        : Cloner(pull.plan_.kernel, builder), pull_(pull), copies_(copies) {
        effects = false;
        own_as_load = true;
    }

    // Before the loop over the slots: the target's own elements, and those of the other end of the
    // first entry.
    void before_slots(Value first_cell) {
        if (!pull_.pairs_) return;
        for (const Op& op : source_.ops) {
            if (op.code != OpCode::load || row_of(op) < 0) continue;
            const std::pair<int, int> element{op.symbol, op.component};
            if (mine_.count(element) != 0) continue;
            mine_[element] = target_.load(op.symbol, op.component, target_.item());
            others_[element] = target_.declare(op.type);
        }
        load_others(first_cell);
    }

    // The entry in a cell of the tables; `valid` says whether it is one, or padding. What the next
    // cell needs from the other end is loaded here: a processor then does not wait for it.
    void record(Value cell, Value next_cell, Value valid) {
        at_ = cell;
        valid_ = valid;
        for (const auto& [element, slot] : others_) other_[element] = target_.read(slot);
        load_others(next_cell);
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
        if (r < 0) return target_.load(symbol, op.component, index);
        std::vector<int>& at_target = pull_.at_target_;
        if (std::find(at_target.begin(), at_target.end(), symbol) == at_target.end())
            at_target.push_back(symbol);
        const Value other = other_.at({op.symbol, op.component});
        const Value mine = mine_.at({op.symbol, op.component});
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
        const Value stores =
            pull_.rows_.size() == 1 ? valid_ : target_.binary(OpCode::bit_and, is_row(0), valid_);
        target_.if_(
            stores, [&] { target_.effect(OpCode::store_once, to, 0, item, term); }, [] {});
    }
    Value table(int parameter) { return target_.load(parameter, 0, at_); }
    Value is_row(int r) {
        return target_.compare(OpCode::eq, table(pull_.row_), target_.integer(r));
    }
    void load_others(Value cell) {
        const Value other = target_.load(pull_.other_, 0, cell);
        for (const auto& [element, slot] : others_)
            target_.write(slot, target_.load(element.first, element.second, other));
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
            for (std::size_t r = 0; r < rows.size(); ++r) {
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

    Pull& pull_;
    bool copies_;
    Value at_ = ir::no_value, valid_ = ir::no_value;
    std::map<Value, ir::Slot> terms_;             // per site
    std::vector<std::pair<int, Value>> reduced_;  // terms of reductions, and where they are stored
    // (symbol, component) at the target's index and at the other end of the entry; what the next
    // entry needs.
    std::map<std::pair<int, int>, Value> mine_, other_;
    std::map<std::pair<int, int>, ir::Slot> others_;
};

Pull::Pull(const Plan& plan, std::vector<int> symbols, bool copies, std::vector<Value> reduced)
    : plan_(plan),
      symbols_(std::move(symbols)),
      rows_(plan.rows[symbols_.front()]),
      gather_(plan, symbols_.front()),
      pairs_(rows_.size() == 2 && rows_[0].index != rows_[1].index),
      reduced_(std::move(reduced)),
      terms_(reduced_.size()) {
    find_shifts();
    if (shifted()) pairs_ = false;
    kernel_ = record(copies, true);
    if (shifted()) inner_ = record(copies, false);
    pays_ = worth_it();
}

void Pull::find_shifts() {
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

Kernel Pull::record(bool copies, bool checked) {
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
    first_terms_ = other_ + 1;
    for (std::size_t k = 0; k < reduced_.size(); ++k)
        builder.add_parameter({"terms." + std::to_string(k), Access::slice,
                               source.op(source.op(reduced_[k]).operand[0]).type});
    for (const int symbol : symbols_)
        if (source.parameter(symbol).access == Access::sum)
            for (int c = 0; c < source.parameter(symbol).components; ++c)
                builder.write(builder.own(symbol, builder.item(), c),
                              builder.zero(source.parameter(symbol).type));
    Body body(*this, copies, builder);
    for (const Shift& shift : shifts_) body.record(shift, checked);
    if (!shifted()) walk(builder, body);
    Kernel kernel = builder.finish();
    ir::remove_dead_ops(kernel, false);
    ir::verify(kernel, "pulling");
    return kernel;
}

// All lanes of a vector walk through as many slots.
void Pull::walk(ir::Builder& builder, Body& body) const {
    const Value item = builder.item();
    const auto block = [&](int size) {  // the first item of the block
        return builder.binary(OpCode::bit_and, item, builder.integer(-size));
    };
    // Table::cell: of a block's first target, then this slot's row, then the target's lane.
    const Value first = builder.binary(
        OpCode::add, item,
        builder.binary(OpCode::mul, block(block_targets), builder.parameter(slots_parameter_, 0)));
    const Value degree = builder.load(degree_, 0, item);
    body.before_slots(first);
    builder.for_(builder.load(most_, 0, block(most_lanes)), 0, [&](Value slot) {
        const auto cell = [&](Value k) {
            return builder.binary(OpCode::add, first,
                                  builder.binary(OpCode::mul, k, builder.integer(block_targets)));
        };
        const Value next = builder.binary(OpCode::add, slot, builder.integer(1));
        body.record(cell(slot), cell(next), builder.compare(OpCode::lt, slot, degree));
    });
}

// Whether evaluating items once per row costs less than sending their terms through memory.
bool Pull::worth_it() const {
    double work = 0;
    int loops = 0;
    for (const ir::Region& region : kernel_.regions)
        for (const Value v : region.ops) {
            const Op& op = kernel_.op(v);
            loops +=
                op.code == OpCode::for_ || op.code == OpCode::while_ || op.code == OpCode::local;
            const bool slow = op.code == OpCode::div || op.code == OpCode::sqrt;
            const bool gathers = op.code == OpCode::load && op.symbol < degree_ && !shifted();
            work += slow ? 4 : gathers ? 8 : 1;
        }
    const auto rows = static_cast<double>(rows_.size());
    if (shifted()) return loops == 0 && work <= rows * scratch_cost;
    return loops == 1 && work * (rows - 1) <= rows * scratch_cost;
}

const std::vector<Binding>& Pull::bind(const Binding* bindings, std::int64_t items, bool make) {
    static const std::vector<Binding> none;
    targets_ = bindings[symbols_.front()].count;
    for (const int symbol : symbols_) {
        if (bindings[symbol].count != targets_) return none;
        for (const int other : symbols_)
            if (make && other != symbol && bindings[other].data == bindings[symbol].data)
                return none;
    }
    for (const int symbol : at_target_)
        if (bindings[symbol].count < targets_ && bindings[symbol].element_stride != 0) return none;
    stride_ = scratch_items(targets_);
    Table* table = nullptr;
    if (items >= 0x7fffffff || targets_ >= 0x7fffffff) return none;
    if (make && !shifted()) {
        gather_.read_key(bindings, items);
        const auto found = std::find_if(tables_.begin(), tables_.end(),
                                        [&](const auto& t) { return t->key == gather_.key(); });
        if (found == tables_.end()) {
            auto fresh = std::make_unique<Table>();
            make_table(bindings, items, *fresh);
            tables_.insert(tables_.begin(), std::move(fresh));
            if (tables_.size() > kept_tables) tables_.pop_back();
        } else if (found != tables_.begin()) {
            std::rotate(tables_.begin(), found, found + 1);
        }
        table = tables_.front().get();
        if (!table->fits) return none;
        copy_columns(bindings, *table);
    }
    const auto source_count = static_cast<std::ptrdiff_t>(plan_.kernel.parameters.size());
    bindings_.assign(bindings, bindings + source_count);
    bindings_.resize(kernel_.parameters.size());
    const std::int64_t count = table != nullptr ? table->cells(stride_) : stride_;
    const auto set = [&](int p, const void* data, std::int64_t n) {
        bindings_[p] = {const_cast<void*>(data), n, 1, 1, 0};
    };
    more_slots_ = table != nullptr ? static_cast<std::int32_t>(table->slots) - 1 : 0;
    set(slots_parameter_, &more_slots_, 1);
    item_count_ = static_cast<std::int32_t>(items);
    set(items_parameter_, &item_count_, 1);
    set(most_, table != nullptr ? table->most.data() : nullptr, stride_);
    set(degree_, table != nullptr ? table->degree.data() : nullptr, stride_);
    set(item_, table != nullptr ? table->item.data() : nullptr, count);
    set(row_, table != nullptr ? table->row.data() : nullptr, count);
    set(other_, table != nullptr ? table->other.data() : nullptr, count);
    for (std::size_t k = 0; k < reduced_.size(); ++k) {
        const Type type = kernel_.parameter(first_terms_ + static_cast<int>(k)).type;
        const std::size_t bytes = static_cast<std::size_t>(items) * ir::size_of(type);
        if (make && terms_[k].size() < bytes) terms_[k] = AlignedBuffer<char>(bytes);
    }
    items_ = items;
    for (std::size_t k = 0; k < reduced_.size(); ++k) bindings_[first_terms_ + k] = terms(k);
    for (std::size_t k = 0; k < columns_.size(); ++k)
        set(columns_[k].parameter, table != nullptr ? table->copies[k].memory.data() : nullptr,
            count);
    return bindings_;
}

std::pair<std::int64_t, std::int64_t> Pull::inside() const {
    if (!shifted()) return {0, 0};
    // Whole blocks, as the items of vectors are.
    const std::int64_t first = std::max<std::int64_t>(shifts_.front().offset, 0);
    const std::int64_t end = std::min(items_ + shifts_.back().offset, targets_);
    return {scratch_items(first), end & -block_targets};
}

Binding Pull::terms(std::size_t reduced) const {
    return {const_cast<char*>(terms_[reduced].data()), items_, 1, 1, 0};
}

Form Pull::form(const std::vector<Binding>& bindings) const {
    Form form = form_of(kernel_, bindings.data());
    for (std::size_t p = most_; p < form.size(); ++p)
        if (kernel_.parameters[p].access == Access::read) form[p].layout = Layout::table;
    return form;
}

void Pull::make_table(const Binding* bindings, std::int64_t items, Table& table) {
    table.key = gather_.key();
    gather_.prepare(bindings, items);
    const std::uint32_t *first = gather_.first(), *entries = gather_.entries();
    std::uint32_t most = 0;
    for (std::int64_t t = 0; t < targets_; ++t) most = std::max(most, first[t + 1] - first[t]);
    table.slots = most;
    const double cells = static_cast<double>(most) * static_cast<double>(stride_);
    table.fits = most > 0 && most <= most_slots &&
                 cells <= padding_limit * first[targets_] + 1024 && cells < 0x1p31 &&
                 items < (1 << 30);
    if (!table.fits) return;
    const auto size = static_cast<std::size_t>(table.cells(stride_));
    table.most = AlignedBuffer<std::int32_t>(stride_);
    table.degree = AlignedBuffer<std::int32_t>(stride_);
    table.item = AlignedBuffer<std::int32_t>(size);
    table.row = AlignedBuffer<std::int32_t>(size);
    const std::int64_t row_length = scratch_items(items);
    for (std::int64_t t = 0; t < targets_; ++t) {
        table.degree.data()[t] = static_cast<std::int32_t>(first[t + 1] - first[t]);
        for (std::uint32_t e = first[t]; e < first[t + 1]; ++e) {
            const std::size_t at = table.cell(t, e - first[t]);
            table.item.data()[at] = static_cast<std::int32_t>(entries[e] % row_length);
            table.row.data()[at] = static_cast<std::int32_t>(entries[e] / row_length);
        }
    }
    for (std::int64_t t = 0; t < targets_; ++t) {
        std::int32_t& in_block = table.most[t & -most_lanes];
        in_block = std::max(in_block, table.degree[t]);
    }
    table.copies.resize(columns_.size());
    std::int64_t in_first_row = 0;  // an item whose index is out of range stores no term
    for (std::uint32_t e = 0; e < first[targets_]; ++e) in_first_row += entries[e] < row_length;
    if (!reduced_.empty()) table.fits = in_first_row == items;
    if (!pairs_) return;
    // Every item stands in two cells, one per row: what one of them is, the other needs.
    table.other = AlignedBuffer<std::int32_t>(size);
    std::vector<std::int32_t> target[2];
    for (auto& t : target) t.assign(items, 0);
    const auto each_cell = [&](const auto& f) {
        for (std::int64_t t = 0; t < targets_; ++t)
            for (std::int32_t k = 0; k < table.degree.data()[t]; ++k) f(t, table.cell(t, k));
    };
    std::vector<char> seen(items, 0);
    each_cell([&](std::int64_t t, std::size_t at) {
        target[table.row.data()[at]][table.item.data()[at]] = static_cast<std::int32_t>(t);
        ++seen[table.item.data()[at]];
    });
    each_cell([&](std::int64_t, std::size_t at) {
        const std::int32_t i = table.item.data()[at];
        table.other.data()[at] = target[1 - table.row.data()[at]][i];
        table.fits &= seen[i] == 2;  // an index out of range has no cell
    });
}

template <class Word>
void Pull::copy_column(const Binding& from, int component, const Table& table, Word* to) const {
    const Word* const data =
        static_cast<const Word*>(from.data) + component * from.component_stride;
    for (std::size_t at = 0; at < table.item.size(); ++at)
        to[at] = data[table.item[at] * from.element_stride];
}

void Pull::copy_columns(const Binding* bindings, Table& table) {
    bool copied = false;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
        const Column& column = columns_[k];
        const Binding& from = bindings[column.symbol];
        const Type type = plan_.kernel.parameter(column.symbol).type;
        Copy& copy = table.copies[k];
        const bool known = !copy.memory.empty() && from.version != 0 &&
                           copy.version == from.version && copy.data == from.data &&
                           copy.element_stride == from.element_stride &&
                           copy.component_stride == from.component_stride;
        if (known) continue;
        const std::size_t bytes = table.item.size() * ir::size_of(type);
        if (copy.memory.size() != bytes) copy.memory = AlignedBuffer<char>(bytes);
        if (ir::size_of(type) == 4)
            copy_column(from, column.component, table,
                        reinterpret_cast<std::uint32_t*>(copy.memory.data()));
        else
            copy_column(from, column.component, table,
                        reinterpret_cast<std::uint64_t*>(copy.memory.data()));
        copy.data = from.data;
        copy.version = from.version;
        copy.element_stride = from.element_stride;
        copy.component_stride = from.component_stride;
        copied |= ir::is_real(type);
    }
    copied_ = copied ? copied_ + 1 : 0;
}

namespace {

// If all that is left are reductions of one term per item, the terms are stored by the first pulled
// loop: what they need was computed there.
void take_terms(Pulled& pulled) {
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

Pulled find_pulled(const Plan& plan) {
    Pulled pulled;
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
        const Pull pull(plan, group, true, {});
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
