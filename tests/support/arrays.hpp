// Arrays from numbers, as tests write them.
#pragma once

#include <vector>

#include "engine/runtime/array/array.hpp"

namespace hindcast::test {

// One component.
inline Array array(const std::vector<double>& values, ir::Type type = ir::Type::f64) {
    return Array::from(values, type, {static_cast<std::int64_t>(values.size())});
}

}  // namespace hindcast::test
