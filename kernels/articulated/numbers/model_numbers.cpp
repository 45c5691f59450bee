#include "kernels/articulated/numbers/model_numbers.hpp"

#include <algorithm>

#include "engine/document/document.hpp"
#include "engine/document/values.hpp"
#include "engine/model/element_names.hpp"
#include "engine/model/value_request.hpp"
#include "kernels/articulated/numbers/names.hpp"

namespace hindcast::articulated {

using model::Field;
using model::FieldKind;

namespace {

constexpr const char* by_name = R"({"$ref":"#/$defs/by_name"})";

Field numbers(const char* key, const char* text) {
    return model::values(key).optional().differentiable().schema(by_name).doc(text);
}
Field triples(const char* key, const char* text) {
    return model::vectors(key).optional().differentiable().schema(by_name).doc(text);
}
// Lists of so many numbers.
Field lists(const char* key, int numbers_of_each, const char* text) {
    const std::string count = std::to_string(numbers_of_each);
    return numbers(key, text).schema(
        std::string(R"({"anyOf":[)") + by_name +
        R"(,{"type":"array","items":{"type":"array","items":{"type":"number"},"minItems":)" +
        count + R"(,"maxItems":)" + count + "}}]}");
}
Field quaternions(const char* key, const char* text) { return lists(key, 4, text); }
Field references(const char* key, const char* text) { return lists(key, 2, text); }
Field impedances(const char* key, const char* text) { return lists(key, 5, text); }

const std::vector<Field>& rows() {
    static const std::vector<Field> all = {
        numbers("qpos",
                "positions at the start, as MuJoCo orders them: free joint place and quaternion "
                "(w, x, y, z), ball quaternion, hinge angle, slide way; quaternions are "
                "normalized where they are read"),
        numbers("qvel",
                "velocities at the start: of a free joint linear in the world's axes, angular in "
                "the body's"),
        numbers("act", "activations of actuators at the start"),
        numbers("ctrl", "control of each actuator, held over time"),
        model::vector("gravity").unit("m/s^2").optional().differentiable().doc(
            "of this robot; without it that of the model's option, not of the scene"),
        numbers("body_mass", "of each body, the world first").unit("kg").at_least(0),
        triples("body_inertia", "principal moments of inertia of each body")
            .unit("kg m^2")
            .at_least(0),
        triples("body_ipos", "center of mass of each body, in its frame").unit("m"),
        quaternions("body_iquat",
                    "axes of inertia of each body, in its frame: lists of w, x, y, z, normalized "
                    "where they are read"),
        lists("body_pseudo_inertia", 10,
              "of each body with \"inertia_numbers\": \"pseudo\": a, d1, d2, d3, s12, s23, s13, "
              "t1, t2, "
              "t3, of which every value is possible: U = e^a [e^d1 s12 s13 t1; e^d2 s23 t2; e^d3 "
              "t3; 1] "
              "is the upper triangular factor of the pseudo-inertia, t the center of mass, e^2a "
              "the mass"),
        triples("body_pos", "place of each body's frame in its parent's").unit("m"),
        quaternions("body_quat",
                    "orientation of each body's frame in its parent's: lists of w, x, y, z, "
                    "normalized where they are read"),
        triples("jnt_pos", "place of each joint, in its body's frame").unit("m"),
        triples("jnt_axis",
                "axis of each hinge and slide, in its body's frame; normalized where it is read"),
        numbers("jnt_stiffness", "of each joint's spring: N/m, N m/rad").at_least(0),
        numbers("qpos_spring", "positions in which the joints' springs are at rest"),
        numbers("dof_damping", "of each degree of freedom: N s/m, N m s/rad").at_least(0),
        numbers("dof_coulomb",
                "dry friction of each degree of freedom beside the model's, smooth in its velocity "
                "v: -c (2/pi) atan(v / s), N, N m; without it none. Below 0, where a fit without "
                "bounds may come to, it drives the motion"),
        numbers("dof_coulomb_speed",
                "s of that: at s the friction is half of c; without it 0.01 m/s, rad/s")
            .positive(),
        numbers("dof_armature", "inertia that motors add to each degree of freedom: kg, kg m^2")
            .at_least(0),
        triples("actuator_gainprm",
                "of each actuator: constant, and factors of its length and velocity"),
        triples("actuator_biasprm",
                "of each actuator: constant, and factors of its length and velocity"),
        lists("actuator_gear", 6, "of each actuator: three numbers along, three about its axes"),
        lists("jnt_range", 2, "least and most of each limited joint: m, rad"),
        references("jnt_solref",
                   "how fast the limit of each joint pushes back: time constant in s, damping "
                   "ratio; or minus stiffness, minus damping"),
        impedances("jnt_solimp",
                   "how hard the limit of each joint is: impedance at it, impedance in depth, "
                   "depth, midpoint, power"),
        numbers("dof_frictionloss", "friction of each degree of freedom: N, N m").at_least(0),
        references("dof_solref", "the same as jnt_solref, of friction of each degree of freedom"),
        impedances("dof_solimp", "the same as jnt_solimp, of friction of each degree of freedom"),
        numbers("dof_invweight0",
                "inverse inertia of each degree of freedom in the model's reference pose, which "
                "scales the impedance of its constraints: 1/kg, 1/(kg m^2)")
            .at_least(0),
        lists("body_invweight0", 2, "the same of each body: of translation and of rotation")
            .at_least(0),
        lists("eq_data", 12,
              "of each equality: anchors, relative pose, scale of torque; or coefficients of a "
              "polynomial"),
        references("eq_solref", "the same as jnt_solref, of each equality"),
        impedances("eq_solimp", "the same as jnt_solimp, of each equality"),
        lists("tendon_range", 2, "least and most length of each limited tendon"),
        references("tendon_solref_lim", "the same as jnt_solref, of the limit of each tendon"),
        impedances("tendon_solimp_lim", "the same as jnt_solimp, of the limit of each tendon"),
        numbers("tendon_frictionloss", "friction of each tendon: N").at_least(0),
        references("tendon_solref_fri", "the same as jnt_solref, of friction of each tendon"),
        impedances("tendon_solimp_fri", "the same as jnt_solimp, of friction of each tendon"),
        triples("geom_pos", "place of each geom in its body").unit("m"),
        quaternions("geom_quat",
                    "orientation of each geom in its body: lists of w, x, y, z, normalized where "
                    "they are read"),
        triples("geom_size", "of each geom: radius, half lengths, as its type has them")
            .unit("m")
            .at_least(0),
        triples("geom_friction",
                "of each geom: sliding, torsional (m), rolling (m). A contact takes the larger "
                "number of its two geoms, unless one has priority: where they are equal the loss "
                "has a kink, so write different ones for gradients")
            .at_least(0),
        references("geom_solref", "the same as jnt_solref, of contacts of each geom"),
        impedances("geom_solimp", "the same as jnt_solimp, of contacts of each geom"),
        numbers("geom_density",
                "of each geom with \"inertia_numbers\": \"geoms\": kg/m^3, of a shell kg/m^2; of "
                "one whose mass the model gives it says nothing")
            .at_least(0),
        numbers("geom_mass",
                "of each geom with \"inertia_numbers\": \"geoms\" whose mass the model gives; of "
                "others the density says it")
            .unit("kg")
            .at_least(0),
        numbers("geom_solmix", "weight of each geom where the numbers of two are mixed")
            .at_least(0),
        lists("pair_friction", 5,
              "of each <pair>: sliding along two tangents, torsional (m), rolling about two (m)")
            .at_least(0),
        references("pair_solref", "the same as jnt_solref, of each <pair>"),
        references("pair_solreffriction", "the same of its friction; zeros: that of pair_solref"),
        impedances("pair_solimp", "the same as jnt_solimp, of each <pair>"),
        numbers("tendon_invweight0", "the same as dof_invweight0, of each tendon").at_least(0),
    };
    return all;
}

int components_of(const Field& field) {
    const std::string& key = field.key;
    const auto has = [&](const char* part) { return key.find(part) != std::string::npos; };
    if (has("_quat") || key == "body_iquat") return 4;
    if (key == "pair_friction") return 5;
    if (key == "body_pseudo_inertia") return 10;
    if (key == "eq_data") return 12;
    if (key == "actuator_gear") return 6;
    if (has("_solimp")) return 5;
    if (has("_solref") || has("_range") || key == "body_invweight0") return 2;
    return field.kind == FieldKind::values ? 1 : 3;
}

}  // namespace

std::vector<Field> number_fields() { return rows(); }

model::Quantity& number_of(const model::Settings& settings, model::Model& model,
                           const std::string& key, std::int64_t count,
                           std::vector<double> otherwise, const robot::RobotModel& robot) {
    const Field& field =
        *std::ranges::find_if(rows(), [&](const Field& row) { return row.key == key; });
    model::Quantity q;
    q.path = settings.name() + "." + key;
    q.unit = field.unit_text;
    q.count = count;
    q.components = components_of(field);
    q.shared = field.kind == FieldKind::vector;
    q.may_optimize = true;
    q.range = {.low = field.low,
               .high = field.high,
               .low_open = field.low_open,
               .high_open = field.high_open,
               .unit = field.unit_text};
    q.scene_pointer = settings.node().pointer() + "/" + key;
    const auto names = std::make_shared<model::ElementNames>(names_of(robot, key));
    if (names->count() == count && !q.shared) {
        names->otherwise = otherwise;
        // Writing these changes what else the model has, or is derived.
        names->may_be_left_out =
            !key.starts_with("dof_coulomb") && key != "eq_data" && !key.ends_with("_invweight0");
        model::name_elements(model, q.path, *names);
    }
    q.values = std::move(otherwise);
    if (const document::Node* const written = settings.find(key)) {
        document::ValueRequest request = model::value_request(model);
        request.count = count;
        request.components = q.components;
        request.range = q.range;
        const auto read = [request, names, shared = q.shared](const document::Node& node) {
            document::Values values = model::evaluate(node, request, names.get());
            values.shared = values.shared || shared;
            return values;
        };
        document::Values values = read(*written);
        q.shared = values.shared;
        q.values = std::move(values.data);
        if (const document::Node* const before = settings.find_loaded(key);
            document::to_line(*before) != document::to_line(*written))
            q.as_loaded = [read, node = *before, shared = q.shared] {
                const document::Values found = read(node);
                return shared && found.shared ? found.data : found.rows();
            };
    }
    return model.add_quantity(std::move(q));
}

}  // namespace hindcast::articulated
