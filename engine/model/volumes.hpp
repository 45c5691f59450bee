// The tetrahedra of solid bodies, for pictures that cut through them. Model::shared() holds it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hindcast::model {

struct Volumes {
    // By owner: four of the model's points each; tetrahedron k is the owner's element k.
    std::map<std::string, std::vector<std::uint32_t>> by_owner;
};

}  // namespace hindcast::model
