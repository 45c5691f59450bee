// What a roll-out has for each of its modes; for rollout*.cpp only.
#pragma once

#include <memory>

#include "engine/runtime/recording.hpp"
#include "engine/runtime/rollout.hpp"
#include "engine/runtime/whole_program.hpp"

namespace hindcast {

struct Rollout::Mode {
    std::unique_ptr<Schedule> schedule;
    Recording recording;
    bool has_plan = false;
    CheckpointPlan plan;
    StepCosts costs;
    std::int64_t scratch = 0;  // measured: what running backwards takes besides
    std::unique_ptr<WholeProgram> whole;

    Mode(std::unique_ptr<Schedule> s, ThreadPool* pool)
        : schedule(std::move(s)), recording(*schedule, pool) {}
};

}  // namespace hindcast
