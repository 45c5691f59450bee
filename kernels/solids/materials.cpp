#include "kernels/solids/materials.hpp"

#include <algorithm>

#include "engine/ad/grad.hpp"
#include "engine/base/error.hpp"

namespace hindcast::solids {

using namespace lang;

namespace {

Float neo_hookean(const Mat3& F, const Moduli& m) {
    const Float log_j = log(determinant(F).name("J"));
    return 0.5 * m.mu * (inner(F, F) - 3.0) - m.mu * log_j + 0.5 * m.lambda * log_j * log_j;
}

Float st_venant_kirchhoff(const Mat3& F, const Moduli& m) {
    const Mat3 E = (transpose(F) * F - Mat3::identity()) * 0.5;
    const Float trace = E(0, 0) + E(1, 1) + E(2, 2);
    return m.mu * inner(E, E) + 0.5 * m.lambda * trace * trace;
}

Float stable_neo_hookean(const Mat3& F, const Moduli& m) {
    const Float a = 4.0 / 3.0 * m.mu, b = m.lambda + 5.0 / 6.0 * m.mu;
    const Float c = 1.0 + 0.75 * a / b, length = inner(F, F), off = determinant(F).name("J") - c;
    const Float at_rest = 0.5 * b * (1.0 - c) * (1.0 - c);
    return 0.5 * a * (length - 3.0) + 0.5 * b * off * off - at_rest -
           0.5 * a * log((length + 1.0) / 4.0);
}

// tr(R^T F), the sum of the singular values of F with the sign of J: the largest root t of t^4 - 2
// |F|^2 t^2 - 8 J t + |F|^4 - 4 |cof F|^2 (Hoger, Carlson 1984). sqrt(3) |F| is not less, and from
// there Newton's method comes down to it.
Float sum_of_stretches(const Mat3& F) {
    const Mat3 cofactors = adjugate(F);
    using Floats = ad::Floats;
    const auto polynomial = [](const Float& t, const Floats& of) {
        const Float square = t * t - of[0];
        return square * square - 4.0 * of[1] - 8.0 * of[2] * t;
    };
    return ad::implicit_root(
        {inner(F, F), inner(cofactors, cofactors), determinant(F).name("J")},
        [&](const Floats& of) {
            Float t = sqrt(3.0 * of[0]);
            for (int round = 0; round < 30; ++round)
                t -= divz(polynomial(t, of), 4.0 * t * (t * t - of[0]) - 8.0 * of[2]);
            return t;
        },
        polynomial, 4);
}

Float corotated(const Mat3& F, const Moduli& m) {
    const Float t = sum_of_stretches(F), off = t - 3.0;
    return m.mu * (inner(F, F) - 2.0 * t + 3.0) + 0.5 * m.lambda * off * off;
}

Float mooney_rivlin(const Mat3& F, const Moduli& m) {
    const Mat3 cofactors = adjugate(F);
    const Float J = determinant(F).name("J"), shrink = exp(-2.0 / 3.0 * log(J));
    const Float first = shrink * inner(F, F) - 3.0,
                second = shrink * shrink * inner(cofactors, cofactors) - 3.0;
    return 0.5 * m.mu * ((1.0 - m.own) * first + m.own * second) +
           0.5 * (m.lambda + 2.0 / 3.0 * m.mu) * (J - 1.0) * (J - 1.0);
}

}  // namespace

const std::vector<Material>& materials() {
    static const std::vector<Material> all{{"neo_hookean", neo_hookean},
                                           {"st_venant_kirchhoff", st_venant_kirchhoff},
                                           {"stable_neo_hookean", stable_neo_hookean},
                                           {"corotated", corotated},
                                           {"mooney_rivlin", mooney_rivlin, "mooney_ratio"}};
    return all;
}

const Material& material(const std::string& name) {
    const auto found = std::ranges::find(materials(), name, &Material::name);
    if (found == materials().end()) throw Error("there is no material '" + name + "'");
    return *found;
}

}  // namespace hindcast::solids
