// Warnings of simulations as Python's: hindcast.PhysicsWarning.
#pragma once

#include "app/python/src/bindings.hpp"
#include "engine/model/warnings/warning.hpp"

namespace hindcast::python {

// SimulationOptions::on_warning that issues a PhysicsWarning, from any thread. Throws Python's error
// where a filter makes it one.
inline void issue_warning(const Warning& warning) {
    const nb::gil_scoped_acquire acquire;
    nb::dict numbers;
    for (const auto& [name, value] : warning.numbers) numbers[name.c_str()] = value;
    nb::object step = nb::none();
    if (warning.step >= 0) step = nb::cast(warning.step);
    nb::module_::import_("hindcast._errors")
        .attr("issue_warning")(
            nb::cast(warning.text().c_str()), nb::cast(warning.identifier.c_str()),
            nb::cast(warning.pointer.c_str()), numbers, step, nb::cast(warning.remedy.c_str()));
}

}  // namespace hindcast::python
