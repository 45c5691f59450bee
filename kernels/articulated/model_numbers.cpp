#include "kernels/articulated/model_numbers.hpp"

#include <algorithm>

#include "engine/document/document.hpp"
#include "engine/document/values.hpp"
#include "engine/model/value_request.hpp"

namespace hindcast::articulated {

using model::Field;
using model::FieldKind;

namespace {

Field numbers(const char* key, const char* text) {
    return model::values(key).optional().differentiable().doc(text);
}
Field triples(const char* key, const char* text) {
    return model::vectors(key).optional().differentiable().doc(text);
}
Field quaternions(const char* key, const char* text) {
    return numbers(key, text).schema(
        R"({"type":"array","items":{"type":"array","items":{"type":"number"},)"
        R"("minItems":4,"maxItems":4}})");
}

const std::vector<Field>& rows() {
    static const std::vector<Field> all = {
        numbers("qpos",
                "positions at the start, as MuJoCo orders them: free joint place and quaternion "
                "(w, x, y, z), ball quaternion, hinge angle, slide way; quaternions are "
                "normalised where they are read"),
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
        triples("body_ipos", "centre of mass of each body, in its frame").unit("m"),
        quaternions("body_iquat",
                    "axes of inertia of each body, in its frame: lists of w, x, y, z, normalised "
                    "where they are read"),
        triples("body_pos", "place of each body's frame in its parent's").unit("m"),
        quaternions("body_quat",
                    "orientation of each body's frame in its parent's: lists of w, x, y, z, "
                    "normalised where they are read"),
        triples("jnt_pos", "place of each joint, in its body's frame").unit("m"),
        triples("jnt_axis",
                "axis of each hinge and slide, in its body's frame; normalised where it is read"),
        numbers("jnt_stiffness", "of each joint's spring: N/m, N m/rad").at_least(0),
        numbers("qpos_spring", "positions in which the joints' springs are at rest"),
        numbers("dof_damping", "of each degree of freedom: N s/m, N m s/rad").at_least(0),
        numbers("dof_armature", "inertia that motors add to each degree of freedom: kg, kg m^2")
            .at_least(0),
        triples("actuator_gainprm",
                "of each actuator: constant, and factors of its length and velocity"),
        triples("actuator_biasprm",
                "of each actuator: constant, and factors of its length and velocity"),
        triples("actuator_gear",
                "two rows for each actuator: the first and the last three of its six numbers"),
    };
    return all;
}

int components_of(const Field& field) {
    if (field.key == "body_quat" || field.key == "body_iquat") return 4;
    return field.kind == FieldKind::values ? 1 : 3;
}

}  // namespace

std::vector<Field> number_fields() { return rows(); }

model::Quantity& number_of(const model::Settings& settings, model::Model& model,
                           const std::string& key, std::int64_t count,
                           std::vector<double> otherwise) {
    const Field& field =
        *std::ranges::find_if(rows(), [&](const Field& row) { return row.key == key; });
    model::Quantity q;
    q.path = settings.name() + "." + key;
    q.unit = field.unit_text;
    q.count = count;
    q.components = components_of(field);
    q.shared = field.kind == FieldKind::vector;
    q.may_optimize = true;
    q.range = {.low = field.low, .high = field.high, .unit = field.unit_text};
    q.scene_pointer = settings.node().pointer() + "/" + key;
    q.values = std::move(otherwise);
    if (const document::Node* const written = settings.find(key)) {
        document::ValueRequest request = model::value_request(model);
        request.count = count;
        request.components = q.components;
        request.range = q.range;
        const auto read = [request, shared = q.shared](const document::Node& node) {
            document::Values values = document::evaluate(node, request);
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
