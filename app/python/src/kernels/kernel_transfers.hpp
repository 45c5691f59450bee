// Transfers: copies numbers into and out of the arrays of a recording. Operands and results of a
// call are scalars side by side, on the host or on the CUDA device where the arrays are.
#pragma once

#include "app/python/src/kernels/kernel_functions.hpp"

namespace hindcast::python {

class Transfers {
public:
    using Context = std::shared_ptr<backend::cuda::Context>;
    // Null: the host.
    explicit Transfers(Context context) : context_(std::move(context)) {}

    // Zeroed, where the numbers are.
    Array array_of(const KernelFunction::Buffer& buffer) const;
    // The initial values of a buffer, as an array; none: zeros.
    Array start_of(const KernelFunction::Buffer& buffer) const;
    void* address_of(const Array& array) const;

    // Single reals are f64 in arrays, whatever they are outside. On the host, integers that equal
    // the array's leave its version as it is, so that tables made from indices stay valid.
    void copy_in(const Array& to, const std::byte* from,
                 const KernelFunction::Outside& outside) const;
    void copy_out(std::byte* to, const Array& from, const KernelFunction::Outside& outside) const;
    void clear(std::byte* result, const KernelFunction::Outside& outside) const;
    void add(const Array& to, const Array& from) const;  // reals of one type and shape

private:
    Context context_;
};

}  // namespace hindcast::python
