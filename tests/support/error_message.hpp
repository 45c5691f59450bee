// What an action raises, for tests of error texts.
#pragma once

#include <functional>
#include <string>

#include "engine/base/error.hpp"

namespace hindcast::test {

// "no error" if it raises none.
inline std::string message(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace hindcast::test
