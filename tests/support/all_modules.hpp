// Every physics module that the program has, registered once for all tests.
#pragma once

#include "engine/model/registry.hpp"

namespace hindcast::test {

inline const Registry& all_modules() {
    static const Registry registry = [] {
        Registry r;
        register_all_modules(r);
        return r;
    }();
    return registry;
}

}  // namespace hindcast::test
