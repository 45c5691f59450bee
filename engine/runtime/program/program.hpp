// Program: what runs, as a tree of launches, copies and repetitions. Copies are launches too, so
// that they have adjoints.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

class Program {
public:
    void add(const Launch& launch) { nodes_.push_back({{launch}, 1}); }
    // to = from, element by element: the same type, elements and components (layouts may differ).
    void add_copy(const std::shared_ptr<Device>& device, const Array& to, const Array& from);
    void repeat(int times, const Program& program);
    void append(const Program& program);

    bool empty() const { return nodes_.empty(); }
    // The launches in the order they run, repetitions written out.
    std::vector<Launch> launches() const;

private:
    struct Node {
        std::vector<Launch> launches;
        int times = 1;
    };
    std::vector<Node> nodes_;
};

// Primal values that a launch's adjoint reads: parameters bound to values as they were before the
// launch or, if `after`, as it left them.
struct Need {
    int parameter = 0;
    Array array;
    bool after = false;
};
std::vector<Need> primal_needs(const Launch::Replay& backward);
// Arrays that a replay writes, other than gradients.
std::vector<Array> primal_writes(const Launch::Replay& forward);

}  // namespace hindcast
