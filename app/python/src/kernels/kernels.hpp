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
    // What the definition's body refers to: the function until it has run, then its steps.
    struct Source;

    PyKernel(lang::KernelDef definition, std::string documentation,
             std::shared_ptr<Source> source = {})
        : definition_(std::move(definition)),
          documentation_(std::move(documentation)),
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

private:
    lang::KernelDef definition_;
    std::string documentation_;
    std::shared_ptr<Source> source_;  // none for kernels of the library
};

void bind_kernels(nb::module_& m);

}  // namespace hindcast::python
