#include <algorithm>

#include "engine/base/error.hpp"
#include "engine/robot/model_reader.hpp"
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
            plan.needs_accelerations =
                plan.needs_accelerations || s.type == SensorType::accelerometer ||
                s.type == SensorType::framelinacc || s.type == SensorType::frameangacc;
            for (const SensedFrame* frame : {&s.frame, &s.reference})
                plan.needs_geoms = plan.needs_geoms || frame->type == ObjectType::geom;
            plan.sensors.push_back(std::move(s));
        }
        return std::make_shared<const SensorPlan>(std::move(plan));
    }

private:
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
            case SensorType::subtreeangmom: return s;
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
