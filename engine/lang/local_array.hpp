// LocalArray: memory of one work item that starts with zeros and ends with it.
//
//     LocalArray sums(32);
//     sums.add(i, x);              // sums[i] += x
//     sums.put(j, 2.0 * sums[j]);
//
// Everything happens in the order in which it is written. put() overwrites values and has no
// derivative: a kernel that uses it cannot be differentiated. An index outside the array is a
// defect of the kernel.
#pragma once

#include "engine/lang/scalar.hpp"

namespace hindcast::lang {

class LocalArray {
public:
    // `size` numbers of the kernel's real type.
    explicit LocalArray(int size) : size_(size) {
        ir::Builder& b = builder();
        array_ = b.local(b.integer(size), current_real(), static_cast<std::uint64_t>(size));
    }

    int size() const { return size_; }
    Float operator[](Int::Operand i) const {
        return Float::from(builder().local_load(array_, i.value));
    }
    void put(Int::Operand i, const Float& value) const {
        builder().local_put(array_, i.value, value.value());
    }
    void add(Int::Operand i, const Float& value) const {
        builder().local_accumulate(array_, i.value, value.value());
    }

private:
    int size_;
    ir::Value array_;
};

}  // namespace hindcast::lang
