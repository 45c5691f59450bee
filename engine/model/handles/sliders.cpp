#include "engine/model/handles/sliders.hpp"

#include <map>
#include <utility>

namespace hindcast::model {

namespace {

struct AllSliders {
    std::map<std::string, std::vector<Slider>> by_path;
};

}  // namespace

void offer_sliders(Model& model, const std::string& path, std::vector<Slider> sliders) {
    model.shared<AllSliders>().by_path[path] = std::move(sliders);
}

const std::vector<Slider>& sliders(Model& model, const std::string& path) {
    return model.shared<AllSliders>().by_path[path];
}

}  // namespace hindcast::model
