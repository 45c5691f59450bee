#include "engine/robot/robot_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/document/text.hpp"
#include "engine/robot/layout/model_layout.hpp"
#include "engine/robot/urdf_packages.hpp"

namespace hindcast::robot {

namespace {

constexpr std::uint64_t text_limit = 1ull << 30;

struct KindRow {
    ObjectKind kind;
    std::string_view name, size, addresses, body;  // body: the array of its owners
};
constexpr KindRow kinds[] = {
    {ObjectKind::body, "body", "nbody", "name_bodyadr", ""},
    {ObjectKind::joint, "joint", "njnt", "name_jntadr", "jnt_bodyid"},
    {ObjectKind::geom, "geom", "ngeom", "name_geomadr", "geom_bodyid"},
    {ObjectKind::site, "site", "nsite", "name_siteadr", "site_bodyid"},
    {ObjectKind::camera, "camera", "ncam", "name_camadr", "cam_bodyid"},
    {ObjectKind::light, "light", "nlight", "name_lightadr", ""},
    {ObjectKind::flex, "flex", "nflex", "name_flexadr", ""},
    {ObjectKind::mesh, "mesh", "nmesh", "name_meshadr", ""},
    {ObjectKind::skin, "skin", "nskin", "name_skinadr", ""},
    {ObjectKind::height_field, "height field", "nhfield", "name_hfieldadr", ""},
    {ObjectKind::texture, "texture", "ntex", "name_texadr", ""},
    {ObjectKind::material, "material", "nmat", "name_matadr", ""},
    {ObjectKind::pair, "pair", "npair", "name_pairadr", ""},
    {ObjectKind::exclude, "exclude", "nexclude", "name_excludeadr", ""},
    {ObjectKind::equality, "equality", "neq", "name_eqadr", ""},
    {ObjectKind::tendon, "tendon", "ntendon", "name_tendonadr", ""},
    {ObjectKind::actuator, "actuator", "nactuator", "name_actuatoradr", ""},
    {ObjectKind::sensor, "sensor", "nsensor", "name_sensoradr", ""},
    {ObjectKind::numeric, "numeric", "nnumeric", "name_numericadr", ""},
    {ObjectKind::keyframe, "keyframe", "nkey", "name_keyadr", ""},
    {ObjectKind::plugin, "plugin", "nplugin", "name_pluginadr", ""},
};

const KindRow& row_of(ObjectKind kind) { return *std::ranges::find(kinds, kind, &KindRow::kind); }

template <class T>
T value_at(const std::byte* memory, std::size_t offset) {
    T value;
    std::memcpy(static_cast<void*>(&value), memory + offset, sizeof value);
    return value;
}

template <class From, class To>
std::vector<To> copied(const std::byte* from, std::size_t count) {
    std::vector<To> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<To>(value_at<From>(from, i * sizeof(From)));
    return values;
}

void copy_elements(ModelArray& array, Element element, const std::byte* from) {
    const auto count = static_cast<std::size_t>(array.rows * array.columns);
    switch (element) {
        case Element::real64: array.values = copied<double, double>(from, count); break;
        case Element::real32: array.values = copied<float, double>(from, count); break;
        case Element::int32: array.values = copied<std::int32_t, std::int32_t>(from, count); break;
        case Element::byte: array.values = copied<std::uint8_t, std::int32_t>(from, count); break;
        case Element::int64:
            throw Error(fmt::format("internal: {} of the model is a 64-bit integer", array.name));
    }
}

}  // namespace

std::string_view name_of(ObjectKind kind) { return row_of(kind).name; }

RobotModel RobotModel::load(const std::filesystem::path& file) {
    return from_text(read_file(file, text_limit), file);
}

RobotModel RobotModel::from_text(const std::string& text, const std::filesystem::path& file) {
    if (text.size() > text_limit)
        throw Error("the model's text has more than 1 GiB").at({file.string(), 0, 0});
    return RobotModel(mujoco_library().compile(with_packages_found(text, file), file));
}

RobotModel::RobotModel(const CompiledModel& compiled)
    : masses_(compiled.masses), warnings_(compiled.warnings) {
    const std::byte* const memory = compiled.memory.get();
    for (const SizeField& field : size_fields())
        sizes_.emplace(field.name, value_at<std::int64_t>(memory, field.offset));
    for (const ModelField& field : inline_fields()) {
        ModelArray array{std::string(field.name), 1, field.columns, {}};
        copy_elements(array, field.element, memory + field.offset);
        arrays_.push_back(std::move(array));
    }
    std::map<std::string_view, std::vector<std::int32_t>> addresses;
    std::string characters;
    for (const ModelField& field : array_fields()) {
        ModelArray array{std::string(field.name), size(field.rows), field.columns, {}};
        if (!field.columns_by.empty()) array.columns *= size(field.columns_by);
        const auto* const from = value_at<const std::byte*>(memory, field.offset);
        if (array.rows < 0 || array.columns < 0 ||
            (from == nullptr && array.rows * array.columns != 0))
            throw Error(fmt::format("the compiled model's {} cannot be {} x {}", field.name,
                                    array.rows, array.columns));
        if (field.name == "names") {
            characters.assign(reinterpret_cast<const char*>(from),
                              static_cast<std::size_t>(array.rows));
            continue;
        }
        copy_elements(array, field.element, from);
        if (field.name.starts_with("name_"))
            addresses[field.name] = std::get<1>(array.values);
        else
            arrays_.push_back(std::move(array));
    }
    for (const KindRow& row : kinds) {
        std::vector<std::string>& list = names_[row.kind];
        for (const std::int32_t at : addresses.at(row.addresses)) {
            const auto begin = std::min(static_cast<std::size_t>(at), characters.size());
            list.emplace_back(characters, begin, characters.find('\0', begin) - begin);
        }
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i) places_.emplace(arrays_[i].name, i);
    masses_.geoms.resize(static_cast<std::size_t>(size("ngeom")));
    masses_.body_is_from_geoms.resize(static_cast<std::size_t>(size("nbody")));
    masses_.meshes.resize(static_cast<std::size_t>(size("nmesh")), MeshInertia::legacy);
    read_options();
}

void RobotModel::read_options() {
    RobotOptions& o = options_;
    const auto real = [&](const char* name) { return reals(name)[0]; };
    const auto integer = [&](const char* name) { return integers(name)[0]; };
    const auto vector = [&](const char* name) {
        const auto v = reals(name);
        return std::array<double, 3>{v[0], v[1], v[2]};
    };
    o.timestep = real("opt.timestep");
    o.gravity = vector("opt.gravity");
    o.wind = vector("opt.wind");
    o.magnetic = vector("opt.magnetic");
    o.density = real("opt.density");
    o.viscosity = real("opt.viscosity");
    o.impratio = real("opt.impratio");
    o.tolerance = real("opt.tolerance");
    o.ls_tolerance = real("opt.ls_tolerance");
    o.noslip_tolerance = real("opt.noslip_tolerance");
    o.ccd_tolerance = real("opt.ccd_tolerance");
    o.integrator = static_cast<IntegratorType>(integer("opt.integrator"));
    o.cone = static_cast<ConeType>(integer("opt.cone"));
    o.jacobian = static_cast<JacobianType>(integer("opt.jacobian"));
    o.solver = static_cast<SolverType>(integer("opt.solver"));
    o.iterations = integer("opt.iterations");
    o.ls_iterations = integer("opt.ls_iterations");
    o.noslip_iterations = integer("opt.noslip_iterations");
    o.ccd_iterations = integer("opt.ccd_iterations");
    o.disableflags = integer("opt.disableflags");
    o.enableflags = integer("opt.enableflags");
    o.disableactuator = integer("opt.disableactuator");
}

std::int64_t RobotModel::size(std::string_view name) const {
    const auto found = sizes_.find(name);
    if (found != sizes_.end()) return found->second;
    std::vector<std::string_view> all;
    for (const auto& [known, value] : sizes_) all.push_back(known);
    throw Error(fmt::format("a robot's model has no size {}", document::shown(name)))
        .remedy(document::suggestion(name, all));
}

const ModelArray& RobotModel::array(std::string_view name) const {
    const auto found = places_.find(name);
    if (found != places_.end()) return arrays_[found->second];
    std::vector<std::string_view> all;
    for (const ModelArray& known : arrays_) all.push_back(known.name);
    throw Error(fmt::format("a robot's model has no array {}", document::shown(name)))
        .remedy(document::suggestion(name, all));
}

std::span<const double> RobotModel::reals(std::string_view name) const {
    const ModelArray& found = array(name);
    if (!found.is_real())
        throw Error(fmt::format("the array '{}' of a robot's model holds integers", name))
            .remedy("read it with integers()");
    return std::get<0>(found.values);
}

std::span<const std::int32_t> RobotModel::integers(std::string_view name) const {
    const ModelArray& found = array(name);
    if (found.is_real())
        throw Error(fmt::format("the array '{}' of a robot's model holds reals", name))
            .remedy("read it with reals()");
    return std::get<1>(found.values);
}

const std::vector<std::string>& RobotModel::names(ObjectKind kind) const { return names_.at(kind); }

int RobotModel::find(ObjectKind kind, std::string_view name) const {
    const std::vector<std::string>& all = names(kind);
    const auto found = std::ranges::find(all, name);
    if (!name.empty() && found != all.end()) return static_cast<int>(found - all.begin());
    std::vector<std::string_view> named;
    for (const std::string& known : all)
        if (!known.empty()) named.push_back(known);
    throw Error(fmt::format("the robot has no {} {}", name_of(kind), document::shown(name)))
        .remedy(document::suggestion(name, named));
}

std::string RobotModel::describe(ObjectKind kind, int number) const {
    const auto index = static_cast<std::size_t>(number);
    const std::string& name = names(kind)[index];
    if (!name.empty()) return fmt::format("{} {}", name_of(kind), document::shown(name));
    const std::string_view owner = row_of(kind).body;
    if (owner.empty()) return fmt::format("{} {}", name_of(kind), number);
    return fmt::format("{} {} of {}", name_of(kind), number,
                       describe(ObjectKind::body, integers(owner)[index]));
}

}  // namespace hindcast::robot
