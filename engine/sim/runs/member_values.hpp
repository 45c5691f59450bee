// The values of the members of a batch: for each path that was set, its numbers for every member; all
// others are the scene's.
#pragma once

#include <list>
#include <span>
#include <string>
#include <vector>

#include "engine/sim/runs/scene_runs.hpp"

namespace hindcast::runs {

class MemberValues {
public:
    MemberValues(SceneRuns& runs, std::size_t members) : runs_(runs), members_(members) {}

    std::size_t members() const { return members_; }
    // As SceneBatch::values() and set() say.
    SceneRuns::Value values(const std::string& path) const;
    void set(const std::string& path, const std::vector<std::size_t>& which,
             std::span<const double> numbers);
    // Gives the simulation the member's values.
    void apply(Simulation& simulation, std::size_t member) const;

    // These paths, and those whose values differ between the members.
    std::vector<std::string> with_varied(const std::vector<std::string>& paths) const;
    // The member's values of the set's leaves, one after the other; `base` has the scene's.
    std::vector<double> point_of(const SceneRuns::Set& set, std::span<const double> base,
                                 std::size_t member) const;

private:
    struct Varied {
        std::string path;
        Shape shape;
        std::string quantity;
        std::vector<std::size_t> entries;
        std::vector<double> numbers;  // [members, entries]
        std::span<const double> of(std::size_t member) const {
            return std::span(numbers).subspan(member * entries.size(), entries.size());
        }
    };

    SceneRuns& runs_;
    std::size_t members_ = 0;
    std::list<Varied> varied_;
};

}  // namespace hindcast::runs
