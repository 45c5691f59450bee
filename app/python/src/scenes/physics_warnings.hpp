// Warnings of simulations as Python's: hindcast.PhysicsWarning.
#pragma once

#include <deque>
#include <mutex>
#include <set>
#include <string>

#include "app/python/src/bindings.hpp"
#include "engine/model/warnings/warning.hpp"

namespace hindcast::python {

// Warnings wait here until Python has the thread again: they belong to the line that called.
class PendingWarnings {
public:
    // SimulationOptions::on_warning, on any thread. Several simulations of one scene find the same:
    // that is kept once.
    void add(const Warning& warning) {
        const std::lock_guard lock(mutex_);
        if (said_.insert(warning.text()).second) waiting_.push_back(warning);
    }

    // Issues them, with Python's lock held. Throws Python's error where a filter makes one of them
    // an error; the others wait on.
    void issue() {
        while (true) {
            Warning next;
            {
                const std::lock_guard lock(mutex_);
                if (waiting_.empty()) return;
                next = std::move(waiting_.front());
                waiting_.pop_front();
            }
            issue(next);
        }
    }

private:
    static void issue(const Warning& warning) {
        nb::dict numbers;
        for (const auto& [name, value] : warning.numbers) numbers[name.c_str()] = value;
        nb::object step = nb::none();
        if (warning.step >= 0) step = nb::cast(warning.step);
        nb::module_::import_("hindcast._errors")
            .attr("issue_warning")(
                nb::cast(warning.text().c_str()), nb::cast(warning.identifier.c_str()),
                nb::cast(warning.pointer.c_str()), numbers, step, nb::cast(warning.remedy.c_str()));
    }

    std::mutex mutex_;
    std::deque<Warning> waiting_;
    std::set<std::string> said_;
};

}  // namespace hindcast::python
