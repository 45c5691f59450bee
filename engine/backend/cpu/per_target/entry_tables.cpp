#include "engine/backend/cpu/per_target/entry_tables.hpp"

#include <algorithm>
#include <cstdlib>

#include "engine/backend/optional_passes.hpp"

namespace hindcast::backend::cpu {

using ir::Type;

namespace {

constexpr std::size_t kept_tables = 4;
constexpr double padding_limit = 4;       // slots that may stand in the tables for each entry
constexpr std::uint32_t most_slots = 64;  // more per target: few targets, little to share out

template <class Word>
void copy_column(const Binding& from, int component, const EntryTable& table, Word* to) {
    const Word* const data =
        static_cast<const Word*>(from.data) + component * from.component_stride;
    for (std::size_t at = 0; at < table.item.size(); ++at)
        to[at] = data[table.item[at] * from.element_stride];
}

}  // namespace

const EntryTable* EntryTables::find(const Binding* bindings, std::int64_t items) {
    inverse_.read_key(bindings, items);
    const auto found = std::find_if(tables_.begin(), tables_.end(),
                                    [&](const auto& t) { return t->key == inverse_.key(); });
    if (found == tables_.end()) {
        auto fresh = std::make_unique<EntryTable>();
        make(bindings, items, *fresh);
        tables_.insert(tables_.begin(), std::move(fresh));
        if (tables_.size() > kept_tables) tables_.pop_back();
    } else if (found != tables_.begin()) {
        std::rotate(tables_.begin(), found, found + 1);
    }
    EntryTable& table = *tables_.front();
    if (!table.fits) return nullptr;
    copy_columns(bindings, table);
    return &table;
}

void EntryTables::make(const Binding* bindings, std::int64_t items, EntryTable& table) {
    const std::int64_t targets = bindings[kernel_.symbols.front()].count,
                       stride = scratch_items(targets);
    table.key = inverse_.key();
    inverse_.prepare(bindings, items);
    const std::uint32_t *first = inverse_.first(), *entries = inverse_.entries();
    std::uint32_t most = 0;
    for (std::int64_t t = 0; t < targets; ++t) most = std::max(most, first[t + 1] - first[t]);
    table.slots = most;
    const double cells = static_cast<double>(most) * static_cast<double>(stride);
    table.fits = most > 0 && most <= most_slots && cells <= padding_limit * first[targets] + 1024 &&
                 cells < 0x1p31 && items < (1 << 30) &&
                 targets * kernel_.other_components < 0x7fffffff;
    if (!table.fits) return;
    const auto size = static_cast<std::size_t>(table.cells(stride));
    table.most = AlignedBuffer<std::int32_t>(stride);
    table.degree = AlignedBuffer<std::int32_t>(stride);
    table.item = AlignedBuffer<std::int32_t>(size);
    table.row = AlignedBuffer<std::int32_t>(size);
    if (kernel_.symmetric) std::fill(table.row.begin(), table.row.end(), -1);
    const std::int64_t row_length = scratch_items(items);
    std::int64_t in_first_row = 0;
    for (std::int64_t t = 0; t < targets; ++t) {
        table.degree.data()[t] = static_cast<std::int32_t>(first[t + 1] - first[t]);
        for (std::uint32_t e = first[t]; e < first[t + 1]; ++e) {
            const std::size_t at = table.cell(t, e - first[t]);
            table.item.data()[at] = static_cast<std::int32_t>(entries[e] % row_length);
            const auto row = static_cast<std::int32_t>(entries[e] / row_length);
            table.row.data()[at] = !kernel_.symmetric ? row : row == 0 ? table.item.data()[at] : -1;
            if (row == 0) ++in_first_row;
        }
    }
    for (std::int64_t t = 0; t < targets; ++t) {
        std::int32_t& in_block = table.most[t & -block_targets];
        in_block = std::max(in_block, table.degree[t]);
    }
    table.copies.resize(kernel_.columns.size());
    // An item whose index is out of range stores no term.
    if (!kernel_.reduced.empty()) table.fits = in_first_row == items;
    if (!kernel_.pairs) return;
    find_other_ends(targets, items, table);
    if (table.fits) table.run = neighbor_runs(targets, table);
    if (table.fits && kernel_.symmetric && !kernel_.reduced.empty())
        table.term_run = term_runs(targets, table);
}

// Every item stands in two cells, one per row: what one of them is, the other needs.
void EntryTables::find_other_ends(std::int64_t targets, std::int64_t items,
                                  EntryTable& table) const {
    table.other = AlignedBuffer<std::int32_t>(table.item.size());
    std::vector<std::int32_t> target[2];
    for (auto& t : target) t.assign(items, 0);
    const auto each_cell = [&](const auto& f) {
        for (std::int64_t t = 0; t < targets; ++t)
            for (std::int32_t k = 0; k < table.degree.data()[t]; ++k) f(t, table.cell(t, k));
    };
    std::vector<char> seen(items, 0);
    const auto row_of = [&](std::size_t at) {
        const std::int32_t row = table.row.data()[at];
        return kernel_.symmetric ? row < 0 : row;
    };
    each_cell([&](std::int64_t t, std::size_t at) {
        target[row_of(at)][table.item.data()[at]] = static_cast<std::int32_t>(t);
        ++seen[table.item.data()[at]];
    });
    each_cell([&](std::int64_t t, std::size_t at) {
        const std::int32_t i = table.item.data()[at], other = target[1 - row_of(at)][i];
        table.other.data()[at] = other * kernel_.other_components;
        table.distance = std::max(table.distance, std::abs(other - t));
        table.fits &= seen[i] == 2;  // an index out of range has no cell
    });
}

// run(first, end, slot) for every block of targets and every slot.
template <class F>
AlignedBuffer<std::int32_t> EntryTables::runs_of(std::int64_t targets, const EntryTable& table,
                                                 const F& run) const {
    AlignedBuffer<std::int32_t> runs(table.item.size() / block_targets);
    std::fill(runs.begin(), runs.end(), no_run);
    if (!kernel_.plan.passes.has(Pass::neighbor_runs)) return runs;
    for (std::int64_t first = 0; first < targets; first += block_targets)
        for (std::int64_t slot = 0; slot < table.slots; ++slot)
            runs[first / block_targets * table.slots + slot] = static_cast<std::int32_t>(
                run(first, std::min<std::int64_t>(first + block_targets, targets), slot));
    return runs;
}

// Padded entries read what lies where theirs would, if it is there.
AlignedBuffer<std::int32_t> EntryTables::neighbor_runs(std::int64_t targets,
                                                       const EntryTable& table) const {
    return runs_of(targets, table, [&](std::int64_t first, std::int64_t end, std::int64_t slot) {
        std::int64_t run = no_run;
        bool one = true;
        for (std::int64_t t = first; t < end; ++t) {
            if (slot >= table.degree[t]) continue;
            const std::int64_t other = table.other[table.cell(t, slot)] / kernel_.other_components;
            one &= run == no_run || run == other - t;
            run = other - t;
        }
        const bool there = run != no_run && first + run >= 0 && end + run <= targets;
        return one && there ? run : no_run;
    });
}

AlignedBuffer<std::int32_t> EntryTables::term_runs(std::int64_t targets,
                                                   const EntryTable& table) const {
    return runs_of(targets, table, [&](std::int64_t first, std::int64_t end, std::int64_t slot) {
        const std::int32_t of_first = table.row[table.cell(first, slot)];
        bool one = true, none = true;
        for (std::int64_t t = first; t < end; ++t) {
            const std::int32_t item = table.row[table.cell(t, slot)];
            one &= of_first >= 0 && item - of_first == t - first;
            none &= item < 0;
        }
        return one ? of_first - first : std::int64_t{none ? no_term : no_run};
    });
}

void EntryTables::copy_columns(const Binding* bindings, EntryTable& table) {
    bool copied = false;
    for (std::size_t k = 0; k < kernel_.columns.size(); ++k) {
        const TargetKernel::Column& column = kernel_.columns[k];
        const Binding& from = bindings[column.symbol];
        const Type type = kernel_.plan.kernel.parameter(column.symbol).type;
        ColumnCopy& copy = table.copies[k];
        if (!copy.memory.empty() && from.version != 0 && copy.from.version == from.version &&
            copy.from.is_same(from))
            continue;
        const std::size_t bytes = table.item.size() * ir::size_of(type);
        if (copy.memory.size() != bytes) copy.memory = AlignedBuffer<char>(bytes);
        if (ir::size_of(type) == 4)
            copy_column(from, column.component, table,
                        reinterpret_cast<std::uint32_t*>(copy.memory.data()));
        else
            copy_column(from, column.component, table,
                        reinterpret_cast<std::uint64_t*>(copy.memory.data()));
        copy.from = from;
        copied |= ir::is_real(type);
    }
    copied_ = copied ? copied_ + 1 : 0;
}

}  // namespace hindcast::backend::cpu
