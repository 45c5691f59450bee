#include "engine/runtime/schedule/join.hpp"

#include <utility>

#include "engine/ir/memory_type.hpp"

namespace hindcast {

bool goes_alike(const Launch::Replay& first, const Launch::Replay& second) {
    const Launch &a = first.launch(), &b = second.launch();
    return a.items() == b.items() && a.device() == b.device() && a.stream() == b.stream() &&
           first.direction() == second.direction();
}

void Join::add(const Launch::Replay& replay, const std::vector<Restore>& restores,
               std::int64_t later) {
    ir::FusionPiece piece{&replay.kernel(), {}, {}};
    const std::vector<Array>& arrays = replay.arrays();
    std::vector<Restore>& list = restores_.emplace_back(restores);
    for (Restore& r : list) r.offset += later;
    for (std::size_t p = 0; p < arrays.size(); ++p) {
        if (!arrays[p]) {
            piece.buffer.push_back(-1);
            continue;
        }
        Memory memory{arrays[p].version_counter(), nullptr, 0};
        for (const Restore& r : list)
            if (r.parameter == static_cast<int>(p))
                memory = {arrays[p].version_counter(), r.history, r.offset};
        piece.buffer.push_back(number(memory));
    }
    piece.passes.assign(arrays.size(), -1);
    pieces_.push_back(std::move(piece));
    replays_.push_back(replay);
}

void Join::add_values(const Launch::Replay& replay, const std::vector<Restore>& restores,
                      const std::vector<Restore>& restored_after, std::int64_t later) {
    add(replay, restores);
    const std::vector<Array>& arrays = replay.arrays();
    for (std::size_t p = 0; p < arrays.size(); ++p) {
        if (!arrays[p] || ir::only_reads(replay.kernel().parameters[p].access)) continue;
        const void* const array = arrays[p].version_counter();
        // Without a history: a value that no later replay restores.
        Memory memory{array, nullptr, later};
        for (const Restore& r : restored_after)
            if (r.history->array.same_memory(arrays[p]))
                memory = {array, r.history, r.offset + later};
        pieces_.back().passes[p] = number(memory);
    }
}

void Join::pass(std::size_t k, const Array& array) {
    const std::vector<Array>& arrays = replays_[k].arrays();
    for (std::size_t p = 0; p < arrays.size(); ++p)
        if (arrays[p] && arrays[p].same_memory(array)) pieces_[k].passes[p] = pieces_[k].buffer[p];
}

void Join::leave_zero(const Array& array) {
    zero_.insert(number({array.version_counter(), nullptr, 0}));
}

void Join::make() {
    std::string name;
    for (const ir::FusionPiece& piece : pieces_)
        name += (name.empty() ? "" : "+") + piece.kernel->name;
    ir::FusedKernel fused = ir::fuse(name, pieces_, zero_);
    std::vector<Array> arrays(fused.kernel.parameters.size());
    std::vector<std::pair<std::size_t, int>> origins(arrays.size());
    for (std::size_t k = 0; k < replays_.size(); ++k)
        for (std::size_t p = 0; p < fused.parameters[k].size(); ++p)
            if (const int q = fused.parameters[k][p]; q >= 0) {
                arrays[static_cast<std::size_t>(q)] = replays_[k].arrays()[p];
                origins[static_cast<std::size_t>(q)] = {k, static_cast<int>(p)};
            }
    parameters_ = std::move(fused.parameters);
    joined_ =
        Launch::joined(replays_, std::move(fused.kernel), std::move(arrays), std::move(origins));
}

std::vector<Restore> Join::restores() const {
    std::vector<Restore> list;
    for (std::size_t k = 0; k < replays_.size(); ++k)
        for (Restore r : restores_[k]) {
            r.parameter = parameter(k, r.parameter);
            if (r.parameter >= 0) list.push_back(r);
        }
    return list;
}

}  // namespace hindcast
