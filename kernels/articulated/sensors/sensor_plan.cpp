#include <algorithm>

#include "engine/base/error.hpp"
#include "engine/robot/model_reader.hpp"
#include "kernels/articulated/sensors/rays.hpp"
#include "kernels/articulated/sensors/sensors.hpp"

namespace hindcast::articulated {

using namespace robot;

namespace {

class SensorReading : robot::ModelReader {
public:
    explicit SensorReading(const RobotModel& model) : ModelReader(model) {}

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
                              s.type == SensorType::contact ||
                              s.type == SensorType::jointlimitfrc ||
                              s.type == SensorType::tendonlimitfrc;
            if (is_load(s.type) &&
                std::ranges::find(plan.load_bodies, s.frame.body) == plan.load_bodies.end())
                plan.load_bodies.push_back(s.frame.body);
            plan.needs_geoms = plan.needs_geoms || !s.seen.empty();
            for (const SensedFrame* frame : {&s.frame, &s.reference})
                plan.needs_geoms = plan.needs_geoms || frame->type == ObjectType::geom;
            plan.sensors.push_back(std::move(s));
        }
        return std::make_shared<const SensorPlan>(std::move(plan));
    }

private:
    static bool is_load(SensorType type) {
        return type == SensorType::force || type == SensorType::torque;
    }

    Sensor sensor(int i) const {
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
                for (const int kind : m_.integers("wrap_type"))
                    if (kind != 1)
                        refuse(i,
                               "is a force between bodies, which is not simulated in a model with "
                               "tendons in space");
                if (integer("site_bodyid", s.object) == 0)
                    refuse(i, "is on the world, which nothing holds");
                break;
            case SensorType::touch: take_shape(s, i, s.object); break;
            case SensorType::insidesite: take_shape(s, i, integer("sensor_refid", i)); break;
            case SensorType::rangefinder: take_seen(s, i); break;
            case SensorType::contact: take_contact(s, i); return s;
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

    void take_contact(Sensor& s, int i) const {
        constexpr unsigned known = 127;  // all but velocities
        s.cutoff = 0;
        s.data = static_cast<unsigned>(integer("sensor_intprm", 3 * i));
        s.reduce = static_cast<Sensor::Reduce>(integer("sensor_intprm", 3 * i + 1));
        if ((s.data & ~known) != 0)
            refuse(i, "tells of velocities of contacts, which is not simulated");
        if (s.reduce == Sensor::none || integer("sensor_intprm", 3 * i + 2) != 1)
            refuse(i,
                   "lists contacts, which is simulated only for one of the least distance, one of "
                   "the most "
                   "force, and the net force");
        for (int g = 0; g < count("ngeom"); ++g)
            if (real("geom_gap", g) != 0)
                refuse(i, "is about contacts in a gap, as of " + m_.describe(ObjectKind::geom, g) +
                              ", which are not simulated");
        s.sides[0] = side(i, "sensor_objtype", "sensor_objid");
        s.sides[1] = side(i, "sensor_reftype", "sensor_refid");
    }
    ContactSide side(int i, const char* types, const char* numbers) const {
        ContactSide side{enum_at<ObjectType>(m_.integers(types), i), integer(numbers, i), {}};
        if (side.type == ObjectType::site)
            refuse(i, "is about contacts in a site, which is not simulated");
        if (side.type == ObjectType::body) side.bodies = {side.number};
        if (side.type == ObjectType::xbody)
            for (int b = side.number; b < count("nbody"); ++b) {
                int up = b;
                while (up > side.number) up = integer("body_parentid", up);
                if (up == side.number) side.bodies.push_back(b);
            }
        return side;
    }

    // Of a site.
    void take_shape(Sensor& s, int i, int site) const {
        s.shape = enum_at<GeomType>(m_.integers("site_type"), site);
        if (!has_rays(s.shape) || s.shape == GeomType::plane)
            refuse(i, "is about a site that is a " + std::string(name_of(s.shape)) +
                          ", which is not simulated");
        for (int k = 0; k < 3; ++k)
            s.size[static_cast<std::size_t>(k)] = real("site_size", 3 * site + k);
    }

    // All geoms that can be seen and are not on the body of the sensor.
    void take_seen(Sensor& s, int i) const {
        if (enum_at<ObjectType>(m_.integers("sensor_objtype"), i) != ObjectType::site)
            refuse(i, "is a rangefinder of a camera, which is not simulated");
        if (s.count != 1 || integer("sensor_intprm", 3 * i) != 1)
            refuse(i, "says more than a distance, which is not simulated");
        const int body = integer("site_bodyid", s.object);
        for (int g = 0; g < count("ngeom"); ++g) {
            if (integer("geom_bodyid", g) == body || is_invisible(g)) continue;
            const auto type = enum_at<GeomType>(m_.integers("geom_type"), g);
            if (!has_rays(type))
                refuse(i, "may meet " + m_.describe(ObjectKind::geom, g) + ", a " +
                              std::string(name_of(type)) + ", which is not simulated");
            s.seen.push_back({ObjectType::geom, g, integer("geom_bodyid", g)});
            s.seen_types.push_back(type);
        }
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
        SensedFrame f{enum_at<ObjectType>(m_.integers(types), i), integer(numbers, i), 0};
        switch (f.type) {
            case ObjectType::body:
            case ObjectType::xbody: f.body = f.number; return f;
            case ObjectType::geom: f.body = integer("geom_bodyid", f.number); return f;
            case ObjectType::site: f.body = integer("site_bodyid", f.number); return f;
            default: break;
        }
        throw Error(m_.describe(ObjectKind::sensor, i) + " is about a " +
                    std::string(name_of(f.type)) + ", which is not simulated")
            .remedy("put a site there, and write that");
    }
};

}  // namespace

SensorPointer sensors_of(const RobotModel& model, const std::vector<std::string>& names) {
    return SensorReading(model).run(names);
}

}  // namespace hindcast::articulated
