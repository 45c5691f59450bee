// The scene's "gradients" object: what gradients may take, and how far back they go.
//
//     "gradients": { "memory": "512 MiB", "horizon": 100 }
//
// memory    bytes, as a text with a unit (bytes, KiB, MiB, GiB, TiB, kB, MB, GB, TB): gradients,
//           what is kept for the backward pass, checkpoints. Without it: half of the memory that is
//           free when the scene is built.
// horizon   gradients over the last so many whole steps only: the state before them is taken as
//           given. Without it: over all steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/document/node.hpp"

namespace hindcast {

struct GradientSettings {
    std::optional<std::int64_t> memory;  // bytes
    std::int64_t horizon = 0;            // whole steps; 0: all

    // `node` may be null. Throws Error.
    static GradientSettings read(const document::Node* node);
};

// The JSON schema (text) of "gradients".
std::string gradient_settings_schema();

// "512 MiB", "64MiB", "1.5 GB", "4096". Throws Error.
std::int64_t parse_bytes(std::string_view text);

}  // namespace hindcast
