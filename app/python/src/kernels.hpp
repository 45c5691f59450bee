// Kernels of Python: a function that is traced when a launch is made, for the precision of its
// arrays.
#pragma once

#include "app/python/src/bindings.hpp"

namespace hindcast::python {

class PyKernel {
public:
    explicit PyKernel(lang::KernelDef definition) : definition_(std::move(definition)) {}
    const lang::KernelDef& definition() const { return definition_; }

private:
    lang::KernelDef definition_;
};

void bind_kernels(nb::module_& m);

}  // namespace hindcast::python
