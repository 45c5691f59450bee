// An Error that says already which launch failed: on a device that works on its own it is raised at
// the next synchronization, maybe while another launch is put there, which is not to blame.
#pragma once

#include <utility>

#include "engine/base/error.hpp"

namespace hindcast::backend {

class LaunchError final : public Error {
public:
    // `words`: of the launch (LaunchWords::note()); "": they are there.
    LaunchError(Error error, const std::string& words) : Error(std::move(error)) {
        if (!words.empty()) note(words);
    }
};

}  // namespace hindcast::backend
