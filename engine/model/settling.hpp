// Settling: computes arrays that follow from the state and are needed before a step begins, such as
// the places of a robot's bodies.
#pragma once

#include "engine/runtime/program/program.hpp"

namespace hindcast::model {

// In Model::shared(). A run makes it in its prologue and at the end of each step; where state arrays are
// set from outside, or a derivative by them is taken, it is run before the first step.
struct Settling {
    Program program;
};

}  // namespace hindcast::model
