#include "kernels/solids/materials.hpp"

#include <algorithm>

#include "engine/base/error.hpp"

namespace hindcast::solids {

using namespace lang;

namespace {

Float neo_hookean(const Mat3& F, const Lame& lame) {
    const Float log_j = log(determinant(F).name("J"));
    return 0.5 * lame.mu * (inner(F, F) - 3.0) - lame.mu * log_j +
           0.5 * lame.lambda * log_j * log_j;
}

Float st_venant_kirchhoff(const Mat3& F, const Lame& lame) {
    const Mat3 E = (transpose(F) * F - Mat3::identity()) * 0.5;
    const Float trace = E(0, 0) + E(1, 1) + E(2, 2);
    return lame.mu * inner(E, E) + 0.5 * lame.lambda * trace * trace;
}

Float stable_neo_hookean(const Mat3& F, const Lame& lame) {
    const Float a = 4.0 / 3.0 * lame.mu, b = lame.lambda + 5.0 / 6.0 * lame.mu;
    const Float c = 1.0 + 0.75 * a / b, length = inner(F, F), off = determinant(F).name("J") - c;
    const Float at_rest = 0.5 * b * (1.0 - c) * (1.0 - c);
    return 0.5 * a * (length - 3.0) + 0.5 * b * off * off - at_rest -
           0.5 * a * log((length + 1.0) / 4.0);
}

}  // namespace

const std::vector<Material>& materials() {
    static const std::vector<Material> all{{"neo_hookean", neo_hookean},
                                           {"st_venant_kirchhoff", st_venant_kirchhoff},
                                           {"stable_neo_hookean", stable_neo_hookean}};
    return all;
}

const Material& material(const std::string& name) {
    const auto found = std::ranges::find(materials(), name, &Material::name);
    if (found == materials().end()) throw Error("there is no material '" + name + "'");
    return *found;
}

}  // namespace hindcast::solids
