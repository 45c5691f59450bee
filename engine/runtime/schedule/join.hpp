// Join: replays to be run as one launch, with the same bits (ir/fuse.hpp states what is legal). For
// fusion.cpp and step_rotation.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/ir/fuse.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

// True if two replays have the same number of items, the same place and the same direction.
bool goes_alike(const Launch::Replay& first, const Launch::Replay& second);

// In the order of add(). Memory is told apart by array and, for values that are restored, by where
// in which history they lie.
class Join {
public:
    // `later`: so many steps after the moment that the joined replay is bound for.
    void add(const Launch::Replay& replay, const std::vector<Restore>& restores,
             std::int64_t later = 0);
    // Only what the replay computes: each array that it writes becomes a value, which the replays
    // after it find where they would have restored it, or nowhere. It does not count as run.
    void add_values(const Launch::Replay& replay, const std::vector<Restore>& restores,
                    const std::vector<Restore>& restored_after, std::int64_t later);
    // Values that the k-th replay would store in an array are passed on without being stored.
    void pass(std::size_t k, const Array& array);
    // The elements of an array are zero before and after, for this replay alone to see.
    void leave_zero(const Array& array);

    bool possible() const { return ir::cannot_fuse(pieces_, zero_).empty(); }
    void make();
    const Launch::Replay& replay() const { return joined_; }
    // The joined replay's parameter for a parameter of the k-th; -1: none.
    int parameter(std::size_t k, int of) const {
        return parameters_[k][static_cast<std::size_t>(of)];
    }
    // The values that the joined replay restores.
    std::vector<Restore> restores() const;

private:
    using Memory = std::tuple<const void*, const History*, std::int64_t>;
    int number(const Memory& memory) {
        return numbers_.try_emplace(memory, static_cast<int>(numbers_.size())).first->second;
    }

    std::map<Memory, int> numbers_;
    std::vector<ir::FusionPiece> pieces_;
    std::set<int> zero_;
    std::vector<Launch::Replay> replays_;
    std::vector<std::vector<Restore>> restores_;  // per replay
    std::vector<std::vector<int>> parameters_;
    Launch::Replay joined_;
};

}  // namespace hindcast
