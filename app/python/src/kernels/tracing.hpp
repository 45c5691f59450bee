// A kernel as a Python function has described it: steps over numbered registers, in blocks.
//
// The function runs once, without a builder; its steps are recorded through engine/lang as often as
// a kernel of some precision is traced, without Python and without its lock.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/python/src/bindings.hpp"
#include "engine/ir/builder.hpp"

namespace hindcast::python {

class Recording;

struct Step {
    int place = -1;  // index into Program::places
    std::function<void(Recording&)> record;
};
using Block = std::vector<Step>;

struct Program {
    Block body;
    int registers = 0;
    std::vector<SourcePlace> places;
};

// Parses (steps, registers, [(file, line), ...]); a step is (code, outputs, inputs, data, place),
// where the data depend on the code and may hold further lists of steps.
Program parse_program(nb::handle description);

// "real": the kernel's own type, f64 as a parameter is declared.
ir::Type declared_type(const std::string& kind);

// Records into the builder that is current on this thread. `shared`: see lang::KernelDef.
void record_program(const Program& program, const std::vector<int>& symbols, std::uint64_t shared);

}  // namespace hindcast::python
