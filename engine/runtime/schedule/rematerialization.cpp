#include "engine/runtime/schedule/rematerialization.hpp"

#include <algorithm>

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
    explicit Rematerializer(Schedule& schedule)
        : s_(schedule), by_events_(written_by_events(schedule)), changing_(by_events_) {
        for (const Call& call : s_.step) changing_.insert(call.writes);
    }

    void decide(bool sparse) {
        for (std::size_t k = 0; k < s_.step.size(); ++k) {
            Call& call = s_.step[k];
            const bool sums = sums_at_values(call);
            if (!may_run_again(k) || !is_needed(call) || !(sums || is_cheap(call))) continue;
            call.made_again = true;
            again_.insert(call.writes);
            // By way of the host it would cost more than it saves.
            if (!sums || !sparse || call.forward.launch().device()->cuda()) continue;
            for (const Array& a : call.writes) {
                s_.results.emplace_back(a);
                call.results.push_back(&s_.results.back());
            }
        }
    }

private:
    bool may_run_again(std::size_t k) const {
        const Call& call = s_.step[k];
        for (const ir::Parameter& p : call.forward.kernel().parameters)
            if (p.access != Access::read && p.access != Access::value && p.access != Access::sum &&
                p.access != Access::write)
                return false;
        return std::all_of(call.writes.begin(), call.writes.end(), [&](const Array& a) {
            if (by_events_.contains(a)) return false;
            for (std::size_t j = 0; j < s_.step.size(); ++j) {
                const Call& other = s_.step[j];
                if (j != k && contains(other.writes, a)) return false;
                if (j < k && contains(other.forward.arrays(), a)) return false;
            }
            return true;
        });
    }

    // True if an adjoint of the step reads an array that the call writes.
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
        if (kernel.is_host_function || kernel.has_exclusive() ||
            std::ranges::any_of(ir::effects_of(kernel), &ir::Effects::adds_other))
            return false;
        std::int64_t bytes = 0;
        for (const Array& a : call.writes)
            bytes += a.size() * static_cast<std::int64_t>(ir::size_of(a.type()));
        const std::int64_t ops = ir::count_ops(kernel) * call.forward.launch().items();
        return ops <= ops_of_kept_byte * bytes &&
               std::ranges::all_of(call.forward.arrays(), [&](const Array& a) {
                   return !a || contains(call.writes, a) || !changing_.contains(a) ||
                          again_.contains(a);
               });
    }

    Schedule& s_;
    ArraySet by_events_;
    ArraySet changing_;  // written by the step or by events
    ArraySet again_;     // arrays that are made again
};

}  // namespace

void rematerialize(Schedule& schedule, bool sparse) { Rematerializer(schedule).decide(sparse); }

}  // namespace hindcast
