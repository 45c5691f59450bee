// Bindings of a pulled kernel: the tables of entries, made once per version of the indices.
#include <algorithm>
#include <cstring>

#include "engine/backend/optional_passes.hpp"

#include "engine/backend/cpu/per_target/target_loop.hpp"

namespace hindcast::backend::cpu {

using ir::Access;
using ir::Type;

namespace {

constexpr std::size_t kept_tables = 4;
constexpr double padding_limit = 4;       // slots that may stand in the tables for each entry
constexpr std::uint32_t most_slots = 64;  // more per target: few targets, little to share out

}  // namespace

const std::vector<Binding>& TargetLoop::bind(const Binding* bindings, std::int64_t items,
                                             bool make) {
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
    distance_ = table != nullptr ? table->distance : 0;
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
    set(run_, table != nullptr ? table->run.data() : nullptr, count / block_targets);
    set(term_run_, table != nullptr ? table->term_run.data() : nullptr, count / block_targets);
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

bool TargetLoop::reads_near(int symbol) const {
    const auto has = [symbol](const std::vector<int>& list) {
        return std::find(list.begin(), list.end(), symbol) != list.end();
    };
    return pairs_ && has(at_target_) && !has(elsewhere_);
}

std::pair<std::int64_t, std::int64_t> TargetLoop::inside() const {
    if (!shifted()) return {0, 0};
    // Whole blocks, as the items of vectors are.
    const std::int64_t first = std::max<std::int64_t>(shifts_.front().offset, 0);
    const std::int64_t end = std::min(items_ + shifts_.back().offset, targets_);
    return {scratch_items(first), end & -block_targets};
}

Binding TargetLoop::terms(std::size_t reduced) const {
    return {const_cast<char*>(terms_[reduced].data()), items_, 1, 1, 0};
}

Form TargetLoop::form(const std::vector<Binding>& bindings) const {
    Form form = form_of(kernel_, bindings.data());
    for (std::size_t p = most_; p < form.size(); ++p)
        if (kernel_.parameters[p].access == Access::read)
            form[p] = {.layout = Layout::table, .wide = form[p].wide, .far = true};
    return form;
}

void TargetLoop::make_table(const Binding* bindings, std::int64_t items, Table& table) {
    table.key = gather_.key();
    gather_.prepare(bindings, items);
    const std::uint32_t *first = gather_.first(), *entries = gather_.entries();
    std::uint32_t most = 0;
    for (std::int64_t t = 0; t < targets_; ++t) most = std::max(most, first[t + 1] - first[t]);
    table.slots = most;
    const double cells = static_cast<double>(most) * static_cast<double>(stride_);
    table.fits = most > 0 && most <= most_slots &&
                 cells <= padding_limit * first[targets_] + 1024 && cells < 0x1p31 &&
                 items < (1 << 30) && targets_ * other_components_ < 0x7fffffff;
    if (!table.fits) return;
    const auto size = static_cast<std::size_t>(table.cells(stride_));
    table.most = AlignedBuffer<std::int32_t>(stride_);
    table.degree = AlignedBuffer<std::int32_t>(stride_);
    table.item = AlignedBuffer<std::int32_t>(size);
    table.row = AlignedBuffer<std::int32_t>(size);
    if (mirrored_) std::fill(table.row.begin(), table.row.end(), -1);
    const std::int64_t row_length = scratch_items(items);
    std::int64_t in_first_row = 0;
    for (std::int64_t t = 0; t < targets_; ++t) {
        table.degree.data()[t] = static_cast<std::int32_t>(first[t + 1] - first[t]);
        for (std::uint32_t e = first[t]; e < first[t + 1]; ++e) {
            const std::size_t at = table.cell(t, e - first[t]);
            table.item.data()[at] = static_cast<std::int32_t>(entries[e] % row_length);
            const auto row = static_cast<std::int32_t>(entries[e] / row_length);
            table.row.data()[at] = !mirrored_ ? row : row == 0 ? table.item.data()[at] : -1;
            if (row == 0) ++in_first_row;
        }
    }
    for (std::int64_t t = 0; t < targets_; ++t) {
        std::int32_t& in_block = table.most[t & -block_targets];
        in_block = std::max(in_block, table.degree[t]);
    }
    table.copies.resize(columns_.size());
    // An item whose index is out of range stores no term.
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
    const auto row_of = [&](std::size_t at) {
        const std::int32_t row = table.row.data()[at];
        return mirrored_ ? row < 0 : row;
    };
    each_cell([&](std::int64_t t, std::size_t at) {
        target[row_of(at)][table.item.data()[at]] = static_cast<std::int32_t>(t);
        ++seen[table.item.data()[at]];
    });
    each_cell([&](std::int64_t t, std::size_t at) {
        const std::int32_t i = table.item.data()[at], other = target[1 - row_of(at)][i];
        table.other.data()[at] = other * other_components_;
        table.distance = std::max(table.distance, std::abs(other - t));
        table.fits &= seen[i] == 2;  // an index out of range has no cell
    });
    if (table.fits) find_runs(table);
    if (table.fits && mirrored_ && !reduced_.empty()) find_term_runs(table);
}

// Padded entries read what lies where theirs would, if it is there.
void TargetLoop::find_runs(Table& table) const {
    table.run = AlignedBuffer<std::int32_t>(table.item.size() / block_targets);
    std::fill(table.run.begin(), table.run.end(), no_run);
    if (!plan_.passes.has(Pass::neighbour_runs)) return;
    for (std::int64_t first = 0; first < targets_; first += block_targets) {
        const std::int64_t end = std::min<std::int64_t>(first + block_targets, targets_);
        for (std::int64_t slot = 0; slot < table.slots; ++slot) {
            std::int64_t run = no_run;
            bool one = true;
            for (std::int64_t t = first; t < end; ++t) {
                if (slot >= table.degree[t]) continue;
                const std::int64_t other = table.other[table.cell(t, slot)] / other_components_;
                one &= run == no_run || run == other - t;
                run = other - t;
            }
            if (one && run != no_run && first + run >= 0 && end + run <= targets_)
                table.run[first / block_targets * table.slots + slot] =
                    static_cast<std::int32_t>(run);
        }
    }
}

void TargetLoop::find_term_runs(Table& table) const {
    table.term_run = AlignedBuffer<std::int32_t>(table.run.size());
    std::fill(table.term_run.begin(), table.term_run.end(), no_run);
    if (!plan_.passes.has(Pass::neighbour_runs)) return;
    for (std::int64_t first = 0; first < targets_; first += block_targets) {
        const std::int64_t end = std::min<std::int64_t>(first + block_targets, targets_);
        for (std::int64_t slot = 0; slot < table.slots; ++slot) {
            const std::int32_t of_first = table.row[table.cell(first, slot)];
            bool one = true, none = true;
            for (std::int64_t t = first; t < end; ++t) {
                const std::int32_t item = table.row[table.cell(t, slot)];
                one &= of_first >= 0 && item - of_first == t - first;
                none &= item < 0;
            }
            std::int32_t& run = table.term_run[first / block_targets * table.slots + slot];
            if (none) run = no_term;
            if (one) run = static_cast<std::int32_t>(of_first - first);
        }
    }
}

template <class Word>
void TargetLoop::copy_column(const Binding& from, int component, const Table& table,
                             Word* to) const {
    const Word* const data =
        static_cast<const Word*>(from.data) + component * from.component_stride;
    for (std::size_t at = 0; at < table.item.size(); ++at)
        to[at] = data[table.item[at] * from.element_stride];
}

void TargetLoop::copy_columns(const Binding* bindings, Table& table) {
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

}  // namespace hindcast::backend::cpu
