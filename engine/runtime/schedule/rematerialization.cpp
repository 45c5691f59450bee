#include "engine/runtime/schedule/rematerialization.hpp"

#include <algorithm>
#include <set>

#include "engine/backend/plan/fixed_point.hpp"
#include "engine/ir/effects.hpp"

namespace hindcast {

namespace {

// Keeping a byte for a step, that is writing it and reading it again from memory that no cache
// holds, takes about as long as so many operations in lanes.
constexpr std::int64_t ops_of_kept_byte = 10;

using ir::Access;

class Rematerializer {
public:
    explicit Rematerializer(Schedule& schedule) : s_(schedule) {
        const auto add = [](Arrays& to, const Calls& calls) {
            for (const Call& c : calls)
                for (const Array& a : c.writes) to.insert(a.version_counter());
        };
        add(changing_, s_.step);
        for (const EventProgram& program : s_.event_programs) {
            add(changing_, program.calls);
            add(by_events_, program.calls);
        }
    }

    void decide(bool sparse) {
        for (std::size_t k = 0; k < s_.step.size(); ++k) {
            Call& call = s_.step[k];
            const bool sums = sums_at_values(call);
            if (!may_run_again(k) || !is_needed(call) || !(sums || is_cheap(call))) continue;
            call.made_again = true;
            for (const Array& a : call.writes) again_.insert(a.version_counter());
            // By way of the host it would cost more than it saves.
            if (!sums || !sparse || call.forward.launch().device()->cuda()) continue;
            for (const Array& a : call.writes) {
                s_.results.emplace_back(a);
                call.results.push_back(&s_.results.back());
            }
        }
    }

private:
    using Arrays = std::set<const void*>;  // by their version counters

    static bool touches(const Launch::Replay& replay, const Array& array) {
        return contains(replay.arrays(), array);
    }

    bool may_run_again(std::size_t k) const {
        const Call& call = s_.step[k];
        for (const ir::Parameter& p : call.forward.kernel().parameters)
            if (p.access != Access::read && p.access != Access::value && p.access != Access::sum &&
                p.access != Access::write)
                return false;
        return std::all_of(call.writes.begin(), call.writes.end(), [&](const Array& a) {
            if (by_events_.contains(a.version_counter())) return false;
            for (std::size_t j = 0; j < s_.step.size(); ++j) {
                const Call& other = s_.step[j];
                if (j != k && contains(other.writes, a)) return false;
                if (j < k && touches(other.forward, a)) return false;
            }
            return true;
        });
    }

    // Whether an adjoint of the step reads what the call writes.
    bool is_needed(const Call& call) const {
        return std::any_of(s_.step.begin(), s_.step.end(), [&](const Call& other) {
            return other.has_backward() &&
                   std::ranges::any_of(primal_needs(other.backward), [&](const Need& need) {
                       return contains(call.writes, need.array);
                   });
        });
    }

    static bool sums_at_values(const Call& call) {
        return std::ranges::any_of(backend::fixed_point_parameters(call.forward.kernel()),
                                   &backend::FixedPoint::used);
    }

    bool is_cheap(const Call& call) const {
        const ir::Kernel& kernel = call.forward.kernel();
        if (std::ranges::any_of(ir::effects_of(kernel), &ir::Effects::adds_other)) return false;
        std::int64_t bytes = 0;
        for (const Array& a : call.writes)
            bytes += a.size() * static_cast<std::int64_t>(ir::size_of(a.type()));
        const std::int64_t ops = ir::count_ops(kernel) * call.forward.launch().items();
        return ops <= ops_of_kept_byte * bytes &&
               std::ranges::all_of(call.forward.arrays(), [&](const Array& a) {
                   return !a || contains(call.writes, a) ||
                          !changing_.contains(a.version_counter()) ||
                          again_.contains(a.version_counter());
               });
    }

    Schedule& s_;
    Arrays changing_, by_events_;
    Arrays again_;  // what is made again
};

}  // namespace

void rematerialize(Schedule& schedule, bool sparse) { Rematerializer(schedule).decide(sparse); }

}  // namespace hindcast
