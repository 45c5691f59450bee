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

#include "engine/runtime/array.hpp"

namespace hindcast::interop {

// Memory of the host with any number of dimensions. Strides count scalars.
struct Strided {
    void* data = nullptr;
    ir::Type type = ir::Type::none;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    bool read_only = false;

    std::int64_t size() const;
    bool is_contiguous() const;  // in C order
};

// Strides in C order, in scalars.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape);

// NumPy's __array_interface__, version 3. `strides` in bytes; empty: missing or None, which means
// C order. Throws Error that names what cannot be taken: another byte order or type, a mask, strides
// that are no multiple of the type's size, memory that is not aligned to it.
struct ArrayInterface {
    std::string typestr;  // "<f4"
    std::vector<std::int64_t> shape;
    std::optional<std::vector<std::int64_t>> strides;
    std::uintptr_t data = 0;
    bool read_only = false, has_mask = false;
};
Strided strided_of(const ArrayInterface& interface);
std::string typestr_of(ir::Type type);  // "<f4"

// What one element of a kernel's array has: 1 row and 1 column for scalars, 1 row for vectors.
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
    HostMemory memory;
};
Elements elements_of(const Strided& memory, const Element& element);

}  // namespace hindcast::interop
