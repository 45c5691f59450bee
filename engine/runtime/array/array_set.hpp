// ArraySet: arrays, each once, in no meaningful order. Arrays over memory from elsewhere that
// overlap are different members (Array::same_memory).
#pragma once

#include <map>
#include <vector>

#include "engine/runtime/array/array.hpp"

namespace hindcast {

class ArraySet {
public:
    bool contains(const Array& array) const { return arrays_.contains(array.version_counter()); }
    // True if the array was not in the set before.
    bool insert(const Array& array) {
        return arrays_.try_emplace(array.version_counter(), array).second;
    }
    // True if any of them was not in the set before.
    bool insert(const std::vector<Array>& arrays) {
        bool any = false;
        for (const Array& array : arrays) any |= insert(array);
        return any;
    }
    bool insert(const ArraySet& other) {
        bool any = false;
        for (const auto& [key, array] : other.arrays_) any |= insert(array);
        return any;
    }
    void erase(const Array& array) { arrays_.erase(array.version_counter()); }

private:
    std::map<const void*, Array> arrays_;
};

}  // namespace hindcast
