#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/error.hpp"
#include "engine/geometry/pairs.hpp"
#include "engine/geometry/rays.hpp"
#include "engine/robot/model_reader.hpp"
#include "kernels/articulated/collision/narrow_phase.hpp"
#include "kernels/articulated/sensors/contact_sensors.hpp"
#include "kernels/articulated/sensors/sensors.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using namespace geometry;

using namespace robot;

namespace {

class SensorReading : robot::ModelReader {
public:
    explicit SensorReading(const RobotModel& model)
        : ModelReader(model), distances_(model), triangles_(model) {}

    SensorPointer run(const std::vector<std::string>& names) {
        SensorPlan plan;
        plan.magnetic = m_.options().magnetic;
        for (const std::string& name : names) {
            Sensor s = sensor(m_.find(ObjectKind::sensor, name));
            s.name = name;
            s.first = plan.rows;
            plan.rows += s.count;
            plan.needs_accelerations = plan.needs_accelerations ||
                                       s.type == SensorType::accelerometer ||
                                       s.type == SensorType::framelinacc ||
                                       s.type == SensorType::frameangacc || is_load(s.type);
            plan.needs_rows = plan.needs_rows || is_load(s.type) || s.type == SensorType::touch ||
                              s.needs_forces || s.type == SensorType::jointlimitfrc ||
                              s.type == SensorType::tendonlimitfrc;
            if (is_load(s.type) &&
                std::ranges::find(plan.load_bodies, s.frame.body) == plan.load_bodies.end())
                plan.load_bodies.push_back(s.frame.body);
            plan.needs_geoms = plan.needs_geoms || !s.seen.empty();
            for (const SensedFrame* frame : {&s.frame, &s.reference})
                plan.needs_geoms = plan.needs_geoms || frame->type == ObjectType::geom;
            plan.sensors.push_back(std::move(s));
        }
        for (const Sensor& s : plan.sensors)
            if (s.type == SensorType::contact && s.reduce != Sensor::net_force)
                plan.pair_order = pair_order(m_);
        plan.distances = distances_.finish();
        plan.triangles = triangles_.finish();
        plan.sides = std::move(sides_);
        plan.needs_geoms = plan.needs_geoms || !plan.distances.pairs.empty();
        return std::make_shared<const SensorPlan>(std::move(plan));
    }

private:
    static bool is_load(SensorType type) {
        return type == SensorType::force || type == SensorType::torque;
    }

    Sensor sensor(int i) {
        Sensor s;
        s.type = enum_at<SensorType>(m_.integers("sensor_type"), i);
        s.object = integer("sensor_objid", i);
        s.count = integer("sensor_dim", i);
        s.cutoff = real("sensor_cutoff", i);
        const int datatype = integer("sensor_datatype", i);
        s.positive = datatype == 1;
        if (datatype > 1) s.cutoff = 0;  // axes and quaternions
        switch (s.type) {
            case SensorType::jointpos:
            case SensorType::jointvel:
            case SensorType::ballquat:
            case SensorType::ballangvel:
            case SensorType::tendonpos:
            case SensorType::tendonvel:
            case SensorType::jointactfrc:
            case SensorType::subtreecom:
            case SensorType::subtreelinvel:
            case SensorType::subtreeangmom:
            case SensorType::jointlimitpos:
            case SensorType::jointlimitvel:
            case SensorType::jointlimitfrc:
            case SensorType::tendonlimitpos:
            case SensorType::tendonlimitvel:
            case SensorType::tendonlimitfrc:
            case SensorType::e_potential:
            case SensorType::e_kinetic:
            case SensorType::clock: return s;
            case SensorType::actuatorpos:
            case SensorType::actuatorvel:
            case SensorType::actuatorfrc:
            case SensorType::tendonactfrc: needs_actuators(i); return s;
            case SensorType::magnetometer:
            case SensorType::accelerometer:
            case SensorType::velocimeter:
            case SensorType::gyro:
            case SensorType::framepos:
            case SensorType::framequat:
            case SensorType::framexaxis:
            case SensorType::frameyaxis:
            case SensorType::framezaxis:
            case SensorType::framelinvel:
            case SensorType::frameangvel:
            case SensorType::framelinacc:
            case SensorType::frameangacc: break;
            case SensorType::force:
            case SensorType::torque:
                if (integer("site_bodyid", s.object) == 0)
                    refuse(i, "is on the world, which nothing holds");
                break;
            case SensorType::touch:
                take_shape(s, i, s.object);
                if (s.shape == GeomType::mesh)
                    refuse(i,
                           "is about a site that is a mesh, of which MuJoCo has no touch sensor");
                break;
            case SensorType::camprojection: take_camera(s, i); return s;
            case SensorType::insidesite:
                if (integer("sensor_intprm", 3 * i) != 0)
                    refuse(i, "says how far a thing is enclosed, which is not simulated");
                take_shape(s, i, integer("sensor_refid", i));
                break;
            case SensorType::rangefinder: take_seen(s, i); break;
            case SensorType::contact: take_contact(s, i); return s;
            case SensorType::geomdist:
            case SensorType::geomnormal:
            case SensorType::geomfromto: take_distance(s, i); return s;
            default:
                throw Error(m_.describe(ObjectKind::sensor, i) + " is of type " +
                            std::string(name_of(s.type)) + ", which is not simulated")
                    .remedy("leave it out of \"sensors\"");
        }
        s.frame = frame(i, "sensor_objtype", "sensor_objid");
        s.relative = integer("sensor_refid", i) >= 0 &&
                     enum_at<ObjectType>(m_.integers("sensor_reftype"), i) != ObjectType::unknown;
        if (s.relative) s.reference = frame(i, "sensor_reftype", "sensor_refid");
        return s;
    }

    [[noreturn]] void refuse(int i, const std::string& what) const {
        throw Error(m_.describe(ObjectKind::sensor, i) + " " + what)
            .remedy("leave it out of \"sensors\"");
    }

    SensedFrame camera_frame(int camera) const {
        SensedFrame f{ObjectType::camera, camera, integer("cam_bodyid", camera), {}, {}};
        for (int k = 0; k < 3; ++k) f.position[at(k)] = real("cam_pos", 3 * camera + k);
        for (int k = 0; k < 4; ++k) f.orientation[at(k)] = real("cam_quat", 4 * camera + k);
        return f;
    }
    // Pixels are as long as focal length and size of its sensor say, in the numbers of half the length in
    // which MuJoCo keeps these, or as the picture's height and the angle across it do.
    void take_camera(Sensor& s, int i) const {
        s.frame = frame(i, "sensor_objtype", "sensor_objid");
        const int number = integer("sensor_refid", i);
        SensedCamera& c = s.camera;
        c.mode = static_cast<SensedCamera::Mode>(integer("cam_mode", number));
        c.frame = camera_frame(number);
        c.target_body = integer("cam_targetbodyid", number);
        if (c.mode >= SensedCamera::target && c.target_body < 0) c.mode = SensedCamera::fixed;
        const char* const offset = c.mode == SensedCamera::track ? "cam_pos0" : "cam_poscom0";
        for (int k = 0; k < 3; ++k) c.offset[at(k)] = real(offset, 3 * number + k);
        for (int k = 0; k < 9; ++k) c.axes[at(k)] = real("cam_mat0", 9 * number + k);
        const auto of_sensor = [&](const char* name, int row, int k) {
            return static_cast<float>(real(name, row * number + k));
        };
        const auto pixels = [&](int k) { return integer("cam_resolution", 2 * number + k); };
        const bool is_sized =
            of_sensor("cam_sensorsize", 2, 0) != 0 && of_sensor("cam_sensorsize", 2, 1) != 0;
        const double angle = real("cam_fovy", number) * std::numbers::pi / 360;
        for (int k = 0; k < 2; ++k) {
            c.middle[at(k)] = 0.5 * pixels(k);
            c.focal[at(k)] = is_sized ? of_sensor("cam_intrinsic", 4, k) /
                                            of_sensor("cam_sensorsize", 2, k) *
                                            static_cast<float>(pixels(k))
                                      : 0.5 / std::tan(angle) * pixels(1);
        }
    }

    // A cutoff is up to where geoms are looked for; it also limits the distance.
    void take_distance(Sensor& s, int i) {
        const double reach = real("sensor_cutoff", i);
        if (s.type != SensorType::geomdist) s.cutoff = 0;
        s.near = distances_.add(m_.describe(ObjectKind::sensor, i),
                                geoms_of(i, "sensor_objtype", "sensor_objid"),
                                geoms_of(i, "sensor_reftype", "sensor_refid"), reach);
    }
    // A geom, or all of a body.
    std::vector<int> geoms_of(int i, const char* types, const char* numbers) const {
        const int number = integer(numbers, i);
        if (enum_at<ObjectType>(m_.integers(types), i) == ObjectType::geom) return {number};
        std::vector<int> all;
        for (int k = 0; k < integer("body_geomnum", number); ++k)
            all.push_back(integer("body_geomadr", number) + k);
        return all;
    }

    void take_contact(Sensor& s, int i) {
        s.cutoff = 0;
        s.data = static_cast<unsigned>(integer("sensor_intprm", 3 * i));
        s.reduce = static_cast<Sensor::Reduce>(integer("sensor_intprm", 3 * i + 1));
        s.contacts = integer("sensor_intprm", 3 * i + 2);
        s.needs_forces =
            (s.data & 6U) != 0 || s.reduce == Sensor::most_force || s.reduce == Sensor::net_force;
        s.sides[0] = side(i, "sensor_objtype", "sensor_objid");
        s.sides[1] = side(i, "sensor_reftype", "sensor_refid");
        if (s.sides[0].type == ObjectType::site) {
            s.frame = frame(i, "sensor_objtype", "sensor_objid");
            take_shape(s, i, s.frame.number);
        }
        for (const CollisionPair& pair : candidate_pairs(m_)) {
            if (!may_match(s, pair)) continue;
            const std::string which = m_.describe(ObjectKind::geom, pair.geom1) + " and " +
                                      m_.describe(ObjectKind::geom, pair.geom2);
            if (pair.gap != 0)
                refuse(i,
                       "is about contacts in a gap, as of " + which + ", which are not simulated");
            if (s.reduce == Sensor::none && s.data != 1 && !is_ordered(pair))  // 1: only found
                refuse(i,
                       "lists contacts in their order, which is not simulated of the several "
                       "contacts of " +
                           which);
        }
    }
    static bool may_match(const Sensor& s, const CollisionPair& pair) {
        const auto is_of = [](const ContactSide& side, int geom, int body) {
            if (side.type == ObjectType::geom) return side.number == geom;
            return side.any() || std::ranges::find(side.bodies, body) != side.bodies.end();
        };
        const auto are = [&](const ContactSide& one, const ContactSide& two) {
            return is_of(one, pair.geom1, pair.body1) && is_of(two, pair.geom2, pair.body2);
        };
        return are(s.sides[0], s.sides[1]) || are(s.sides[1], s.sides[0]);
    }
    // True if its contacts come in MuJoCo's order (contact_sensors.hpp).
    bool is_ordered(const CollisionPair& pair) const {
        const auto kind = [&](int g) {
            return kind_of(enum_at<GeomType>(m_.integers("geom_type"), g));
        };
        return pair.slots == 1 || geometry::pair_of(kind(pair.geom1), kind(pair.geom2))->in_order;
    }
    ContactSide side(int i, const char* types, const char* numbers) const {
        ContactSide side{enum_at<ObjectType>(m_.integers(types), i), integer(numbers, i), {}};
        if (side.type == ObjectType::body) side.bodies = {side.number};
        if (side.type == ObjectType::xbody)
            for (int b = side.number; b < count("nbody"); ++b) {
                int up = b;
                while (up > side.number) up = integer("body_parentid", up);
                if (up == side.number) side.bodies.push_back(b);
            }
        return side;
    }

    // Takes the shape of a site.
    void take_shape(Sensor& s, int i, int site) {
        s.shape = enum_at<GeomType>(m_.integers("site_type"), site);
        if (s.shape == GeomType::mesh) {
            take_hull(s, integer("site_dataid", site));
            return;
        }
        if (!has_rays(kind_of(s.shape)) || s.shape == GeomType::plane)
            refuse(i, "is about a site that is a " + std::string(name_of(s.shape)) +
                          ", which is not simulated");
        for (int k = 0; k < 3; ++k)
            s.size[static_cast<std::size_t>(k)] = real("site_size", 3 * site + k);
    }
    // The sides of a mesh's hull, in the axes in which the model's file has it: MuJoCo has moved the mesh to
    // its center and its principal axes.
    void take_hull(Sensor& s, int mesh) {
        s.first_side = static_cast<int>(sides_.size()) / 4;
        std::array<double, 3> moved{};
        std::array<double, 4> turned{};
        for (int k = 0; k < 3; ++k) moved[at(k)] = real("mesh_pos", 3 * mesh + k);
        for (int k = 0; k < 4; ++k) turned[at(k)] = real("mesh_quat", 4 * mesh + k);
        const auto& [w, x, y, z] = turned;
        const double rows[3][3] = {
            {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
        for (int p = 0; p < integer("mesh_polynum", mesh); ++p) {
            const int polygon = integer("mesh_polyadr", mesh) + p;
            const int corner = integer("mesh_vertadr", mesh) +
                               integer("mesh_polyvert", integer("mesh_polyvertadr", polygon));
            double out[3] = {}, along = 0;
            for (int k = 0; k < 3; ++k) {
                const double n = real("mesh_polynormal", 3 * polygon + k);
                for (int r = 0; r < 3; ++r) out[r] += rows[r][k] * n;
                along += n * real("mesh_vert", 3 * corner + k);
            }
            for (int r = 0; r < 3; ++r) along += out[r] * moved[at(r)];
            sides_.insert(sides_.end(), {out[0], out[1], out[2], along});
        }
        s.end_side = static_cast<int>(sides_.size()) / 4;
    }

    // All geoms that can be seen and are not on the body of the sensor.
    void take_seen(Sensor& s, int i) {
        if (enum_at<ObjectType>(m_.integers("sensor_objtype"), i) != ObjectType::site)
            refuse(i, "is a rangefinder of a camera, which is not simulated");
        if (s.count != 1 || integer("sensor_intprm", 3 * i) != 1)
            refuse(i, "says more than a distance, which is not simulated");
        const int body = integer("site_bodyid", s.object);
        for (int g = 0; g < count("ngeom"); ++g) {
            if (integer("geom_bodyid", g) == body || is_invisible(g)) continue;
            s.seen.push_back(seen(i, g));
        }
    }
    SeenGeom seen(int i, int g) {
        SeenGeom geom;
        geom.frame = {ObjectType::geom, g, integer("geom_bodyid", g), {}, {}};
        geom.type = enum_at<GeomType>(m_.integers("geom_type"), g);
        const int data = integer("geom_dataid", g);
        if (geom.type == GeomType::mesh) {
            geom.triangles = triangles_.mesh(data);
        } else if (geom.type == GeomType::hfield) {
            geom.triangles = triangles_.field(data);
            for (int k = 0; k < 4; ++k) geom.field[at(k)] = real("hfield_size", 4 * data + k);
        } else if (!has_rays(kind_of(geom.type))) {
            refuse(i, "may meet " + m_.describe(ObjectKind::geom, g) + ", a " +
                          std::string(name_of(geom.type)) + ", which is not simulated");
        }
        return geom;
    }
    bool is_invisible(int geom) const {
        const int material = integer("geom_matid", geom);
        return (material >= 0 ? real("mat_rgba", 4 * material + 3)
                              : real("geom_rgba", 4 * geom + 3)) == 0;
    }

    void needs_actuators(int i) const {
        if (m_.options().disabled(DisableFlag::actuation))
            throw Error(m_.describe(ObjectKind::sensor, i) + " is about actuators, which are off")
                .remedy("leave it out of \"sensors\"");
    }

    SensedFrame frame(int i, const char* types, const char* numbers) const {
        SensedFrame f{enum_at<ObjectType>(m_.integers(types), i), integer(numbers, i), 0, {}, {}};
        switch (f.type) {
            case ObjectType::body:
            case ObjectType::xbody: f.body = f.number; return f;
            case ObjectType::geom: f.body = integer("geom_bodyid", f.number); return f;
            case ObjectType::site: f.body = integer("site_bodyid", f.number); return f;
            case ObjectType::camera:
                if (integer("cam_mode", f.number) != SensedCamera::fixed)
                    refuse(
                        i,
                        "is about the frame of a camera that is not fixed, which is not simulated");
                return camera_frame(f.number);
            default: break;
        }
        throw Error(m_.describe(ObjectKind::sensor, i) + " is about a " +
                    std::string(name_of(f.type)) + ", which is not simulated")
            .remedy("put a site there, and write that");
    }

    DistanceList distances_;
    TriangleList triangles_;
    std::vector<double> sides_;
};

}  // namespace

SensorPointer sensors_of(const RobotModel& model, const std::vector<std::string>& names) {
    return SensorReading(model).run(names);
}

}  // namespace hindcast::articulated
