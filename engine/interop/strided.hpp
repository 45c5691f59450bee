// Arrays of other libraries, as their protocols describe them, and the arrays that kernels work
// with. Plain C++: a binding fills in the description.
//
// A description counts dimensions like its owner; a kernel's array has elements, and each of them
// components. elements_of() says how the one lies in the other: the last dimension is that of a
// vector, the last two those of a matrix, all before them count elements, which must stand at equal
// distances.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/array/array.hpp"

namespace hindcast::interop {

// Memory with any number of dimensions. Strides count scalars.
struct Strided {
    void* data = nullptr;
    ir::Type type = ir::Type::none;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    bool read_only = false;
    int device = -1;  // number of the CUDA device that it is of; -1: the host

    std::int64_t size() const;
    bool is_contiguous() const;  // in C order
    // The scalars from the lowest address to the highest, as counted from `data`: low .. high-1.
    struct Extent {
        std::int64_t low = 0, high = 0;
    };
    Extent extent() const;
};

// Strides in C order, in scalars.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape);

// NumPy's __array_interface__, version 3. `strides` in bytes; empty: missing or None, which means
// C order. Throws Error with the reason for memory that cannot be taken: another byte order or
// type, a mask, strides that are not multiples of the type's size, memory that is not aligned to
// it.
struct ArrayInterface {
    std::string typestr;  // "<f4"
    std::vector<std::int64_t> shape;
    std::optional<std::vector<std::int64_t>> strides;
    std::uintptr_t data = 0;
    bool read_only = false, has_mask = false;
};
Strided strided_of(const ArrayInterface& interface);
std::string typestr_of(ir::Type type);  // "<f4"

// Numba's __cuda_array_interface__, version 3: the same, of a device. The stream that its owner has
// written it on: missing or None asks for no synchronization, 0 is refused, 1 is the legacy default
// stream, 2 that of each thread.
struct CudaArrayInterface : ArrayInterface {
    std::optional<std::int64_t> stream;
};
// Asks the driver on which device the memory is. Throws Error, besides, where the pointer is none of
// a device or what shape and strides say is not covered by the allocation that it points into.
Strided strided_of(const CudaArrayInterface& interface);

// An array of a kernel over such memory, of the host or a device: `context` is one of that device.
Array array_over(const ForeignMemory& memory,
                 const std::shared_ptr<backend::cuda::Context>& context,
                 std::shared_ptr<void> alive, ir::Type type, std::vector<std::int64_t> shape);
// Throws Error where memory of a device is not what the driver knows: see above.
void check_covered(const Strided& memory, const backend::cuda::Context& context);

// The shape of one element of a kernel's array: 1 row and 1 column for scalars, 1 row for vectors.
struct Element {
    int rows = 1, columns = 1;
    int components() const { return rows * columns; }
    bool operator==(const Element&) const = default;
    std::string name(const std::string& scalar) const;  // "f32", "vec3 of f32", "mat2x2 of f32"
};

// The same memory as a kernel sees it. Throws Error where the last dimensions are not those of the
// element, or the distances differ.
struct Elements {
    std::vector<std::int64_t> shape;  // elements first, as Array counts
    ForeignMemory memory;
};
Elements elements_of(const Strided& memory, const Element& element);

}  // namespace hindcast::interop
