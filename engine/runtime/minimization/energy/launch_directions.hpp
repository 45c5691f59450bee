// LaunchDirections: a launch with the replays of the directions that were asked for.
#pragma once

#include <map>

#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

struct LaunchDirections {
    Launch launch;
    std::map<Direction, Launch::Replay> replays = {};
    const Launch::Replay& in(Direction direction = Direction::forward) {
        Launch::Replay& replay = replays[direction];
        if (!replay) replay = launch.replay(direction);
        return replay;
    }
};

}  // namespace hindcast
