// Carrier: generalized coordinates that carry points, such as the joints of a robot.
//
// A carrier has coordinates y, which are unknowns of the minimization, and bodies, whose frames
// are functions of y: the place p and the axes R of each. A point with the place s in its body's
// frame is at
//
//     x = p(y) + R(y) s
//
// so every energy of points depends on y through the points that it names. The carrier adds an
// energy of its own, such as the inertia of the bodies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/lang/kernel.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

// The numbers of a frame in memory: p, then R row by row.
inline constexpr int frame_numbers = 12;

// Kernels of one item, with the parameter "y" (Read<Float>), those that they share, and their own:
//   frames       "frame"        WriteSlice<Float>: the 12 numbers of each body in turn
//   frame_force  "frame_force"  Read<Float>: a number f for each number of the frames
//                "gradient"     Accumulate<Float>: f . d(frame)/dy is added
//   value        "scale", "value"   value += scale E(y)
//   gradient     "gradient"     Accumulate<Float>: dE/dy is added
struct CarrierKernels {
    lang::KernelDef frames, frame_force, value, gradient;
};

struct Carrier {
    std::string name;   // in errors: "arm"
    Array coordinates;  // reals {n}: y, at the start of the search and at the minimum
    std::int64_t bodies = 0;
    CarrierKernels kernels;
    std::vector<NamedArgument> arguments;  // of the parameters that the kernels share
    // The points that it carries, with the body and the place in the body's frame of each.
    std::vector<std::int64_t> points, point_bodies;
    Array places;  // reals {points, 3}, m
    // Bodies whose frames energies may name: four points more, which only the minimization has, at
    // the frame's place and at the ends of its axes of length 1. `first`: the number of the first;
    // those of all carriers follow the numbers of the positions without a gap.
    struct Frame {
        std::int64_t body = 0, first = 0;
    };
    std::vector<Frame> frames = {};
};

inline constexpr std::int64_t frame_points = 4;

}  // namespace hindcast
