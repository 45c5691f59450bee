// Kernels of Python: a function that describes itself once, when the first launch is made, and is
// traced from that for the precision of the launch's arrays.
#pragma once

#include <memory>
#include <string>

#include "app/python/src/bindings.hpp"
#include "engine/lang/kernel.hpp"

namespace hindcast::python {

class PyKernel {
public:
    // The source that the definition's body refers to: the function until it has run, then its
    // steps.
    struct Source;

    // The parts from which another process makes it again: hindcast/_pickling.py. They are Python
    // objects, so they are here and not in the source, which compiled programs keep on threads
    // without the interpreter's lock.
    struct Parts {
        std::string name, options;  // of a kernel of the library; options are JSON
        nb::object parameters;      // as make_kernel() takes them
        nb::object description;     // the function's recorded steps, once it has run
    };

    PyKernel(lang::KernelDef definition, std::string documentation, Parts parts,
             std::shared_ptr<Source> source = {})
        : definition_(std::move(definition)),
          documentation_(std::move(documentation)),
          parts_(std::move(parts)),
          source_(std::move(source)) {}
    const std::string& documentation() const { return documentation_; }
    // Name and parameters; for launches use definition().
    const lang::KernelDef& signature() const { return definition_; }
    // Runs the function if it has not run yet, so that the definition can be traced on any thread.
    // Throws what the function raises, or Error. Needs Python's lock.
    const lang::KernelDef& definition() const {
        prepare();
        return definition_;
    }
    void prepare() const;
    const std::shared_ptr<Source>& source() const { return source_; }
    const Parts& parts() const { return parts_; }
    // True if launches check for indices out of range.
    bool checks_indices() const { return checks_indices_; }
    static PyKernel unchecked(nb::object kernel) {
        PyKernel same = nb::cast<const PyKernel&>(kernel);
        same.checks_indices_ = false;
        same.original = std::move(kernel);
        return same;
    }
    nb::object original;  // that it shares its source with; or invalid

private:
    lang::KernelDef definition_;
    std::string documentation_;
    mutable Parts parts_;
    std::shared_ptr<Source> source_;  // none for kernels of the library
    bool checks_indices_ = true;
};

void bind_kernels(nb::module_& m);

}  // namespace hindcast::python
