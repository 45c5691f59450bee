#include "engine/model/handles/grips.hpp"

#include <map>
#include <utility>

namespace hindcast::model {

namespace {

struct AllGrips {
    std::map<std::string, Grips> by_owner;
};

}  // namespace

void publish_grips(Model& model, const std::string& owner, Grips grips) {
    model.shared<AllGrips>().by_owner.insert_or_assign(owner, std::move(grips));
}

const Grips* grips_of(Model& model, const std::string& owner) {
    const auto& all = model.shared<AllGrips>().by_owner;
    const auto found = all.find(owner);
    return found == all.end() ? nullptr : &found->second;
}

}  // namespace hindcast::model
