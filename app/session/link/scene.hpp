// The scene that runs, and the scene that is shown. They differ while an iteration before an edit is
// shown.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"

namespace hindcast {
struct Warning;  // engine/model/warnings/warning.hpp
}  // namespace hindcast

namespace hindcast::session {

// Two objects that can touch, and what keeps them apart.
struct PairInfo {
    std::string a, b;                  // the same: an object with itself
    std::string a_pointer, b_pointer;  // in the document
    std::string law;                   // empty: none
    bool is_exception = false;         // the scene says that they may pass through each other
};

struct SceneSnapshot {
    // ---- of the scene shown ----
    std::string name, device, precision;
    std::optional<std::array<std::uint8_t, 16>> cuda_uuid;  // of a CUDA device
    std::shared_ptr<const render::Stage> stage;             // changes when another scene is shown

    // Each built scene has a number. A scene that undo or a branch brings back has its old number.
    std::int64_t build = 0;        // of the scene as it is now
    std::int64_t epoch = 0;        // of its loss: an edit that changes the loss begins another
    std::int64_t shown_build = 0;  // of the scene shown: differs for iterations before an edit

    // ---- of the scene as it is now; null before the first build ----
    std::shared_ptr<const std::vector<Warning>> warnings;  // so far
    std::shared_ptr<const std::vector<PairInfo>> pairs;
};

}  // namespace hindcast::session
