// Written by engine/robot/layout/generate.py from MuJoCo's headers; not to be edited.
#include "engine/robot/layout/model_enums.hpp"

namespace hindcast::robot {

// clang-format off
std::string_view name_of(DisableFlag value) {
    switch (value) {
        case DisableFlag::constraint: return "constraint";
        case DisableFlag::equality: return "equality";
        case DisableFlag::frictionloss: return "frictionloss";
        case DisableFlag::limit: return "limit";
        case DisableFlag::contact: return "contact";
        case DisableFlag::spring: return "spring";
        case DisableFlag::damper: return "damper";
        case DisableFlag::gravity: return "gravity";
        case DisableFlag::clampctrl: return "clampctrl";
        case DisableFlag::warmstart: return "warmstart";
        case DisableFlag::filterparent: return "filterparent";
        case DisableFlag::actuation: return "actuation";
        case DisableFlag::refsafe: return "refsafe";
        case DisableFlag::sensor: return "sensor";
        case DisableFlag::midphase: return "midphase";
        case DisableFlag::eulerdamp: return "eulerdamp";
        case DisableFlag::autoreset: return "autoreset";
        case DisableFlag::nativeccd: return "nativeccd";
        case DisableFlag::island: return "island";
        case DisableFlag::multiccd: return "multiccd";
    }
    return {};
}
std::string_view name_of(EnableFlag value) {
    switch (value) {
        case EnableFlag::override: return "override";
        case EnableFlag::energy: return "energy";
        case EnableFlag::fwdinv: return "fwdinv";
        case EnableFlag::invdiscrete: return "invdiscrete";
        case EnableFlag::sleep: return "sleep";
        case EnableFlag::diagexact: return "diagexact";
        case EnableFlag::ipc: return "ipc";
        case EnableFlag::speculative: return "speculative";
    }
    return {};
}
std::string_view name_of(JointType value) {
    switch (value) {
        case JointType::free: return "free";
        case JointType::ball: return "ball";
        case JointType::slide: return "slide";
        case JointType::hinge: return "hinge";
    }
    return {};
}
std::string_view name_of(GeomType value) {
    switch (value) {
        case GeomType::plane: return "plane";
        case GeomType::hfield: return "hfield";
        case GeomType::sphere: return "sphere";
        case GeomType::capsule: return "capsule";
        case GeomType::ellipsoid: return "ellipsoid";
        case GeomType::cylinder: return "cylinder";
        case GeomType::box: return "box";
        case GeomType::mesh: return "mesh";
        case GeomType::sdf: return "sdf";
        case GeomType::arrow: return "arrow";
        case GeomType::arrow1: return "arrow1";
        case GeomType::arrow2: return "arrow2";
        case GeomType::line: return "line";
        case GeomType::linebox: return "linebox";
        case GeomType::flex: return "flex";
        case GeomType::skin: return "skin";
        case GeomType::label: return "label";
        case GeomType::triangle: return "triangle";
        case GeomType::none: return "none";
    }
    return {};
}
std::string_view name_of(IntegratorType value) {
    switch (value) {
        case IntegratorType::euler: return "euler";
        case IntegratorType::rk4: return "rk4";
        case IntegratorType::implicit: return "implicit";
        case IntegratorType::implicitfast: return "implicitfast";
        case IntegratorType::discrete: return "discrete";
    }
    return {};
}
std::string_view name_of(ConeType value) {
    switch (value) {
        case ConeType::pyramidal: return "pyramidal";
        case ConeType::elliptic: return "elliptic";
    }
    return {};
}
std::string_view name_of(JacobianType value) {
    switch (value) {
        case JacobianType::dense: return "dense";
        case JacobianType::sparse: return "sparse";
        case JacobianType::auto_: return "auto";
    }
    return {};
}
std::string_view name_of(SolverType value) {
    switch (value) {
        case SolverType::pgs: return "pgs";
        case SolverType::cg: return "cg";
        case SolverType::newton: return "newton";
    }
    return {};
}
std::string_view name_of(EqualityType value) {
    switch (value) {
        case EqualityType::connect: return "connect";
        case EqualityType::weld: return "weld";
        case EqualityType::joint: return "joint";
        case EqualityType::tendon: return "tendon";
        case EqualityType::flex: return "flex";
        case EqualityType::flexvert: return "flexvert";
        case EqualityType::flexstrain: return "flexstrain";
        case EqualityType::distance: return "distance";
    }
    return {};
}
std::string_view name_of(TendonType value) {
    switch (value) {
        case TendonType::fixed: return "fixed";
        case TendonType::spatial: return "spatial";
    }
    return {};
}
std::string_view name_of(WrapType value) {
    switch (value) {
        case WrapType::none: return "none";
        case WrapType::joint: return "joint";
        case WrapType::pulley: return "pulley";
        case WrapType::site: return "site";
        case WrapType::sphere: return "sphere";
        case WrapType::cylinder: return "cylinder";
    }
    return {};
}
std::string_view name_of(TransmissionType value) {
    switch (value) {
        case TransmissionType::joint: return "joint";
        case TransmissionType::jointinparent: return "jointinparent";
        case TransmissionType::slidercrank: return "slidercrank";
        case TransmissionType::tendon: return "tendon";
        case TransmissionType::site: return "site";
        case TransmissionType::body: return "body";
        case TransmissionType::so3: return "so3";
        case TransmissionType::undefined: return "undefined";
    }
    return {};
}
std::string_view name_of(DynamicsType value) {
    switch (value) {
        case DynamicsType::none: return "none";
        case DynamicsType::integrator: return "integrator";
        case DynamicsType::filter: return "filter";
        case DynamicsType::filterexact: return "filterexact";
        case DynamicsType::muscle: return "muscle";
        case DynamicsType::dcmotor: return "dcmotor";
        case DynamicsType::pid: return "pid";
        case DynamicsType::user: return "user";
    }
    return {};
}
std::string_view name_of(GainType value) {
    switch (value) {
        case GainType::fixed: return "fixed";
        case GainType::affine: return "affine";
        case GainType::muscle: return "muscle";
        case GainType::dcmotor: return "dcmotor";
        case GainType::so3: return "so3";
        case GainType::pid: return "pid";
        case GainType::user: return "user";
    }
    return {};
}
std::string_view name_of(BiasType value) {
    switch (value) {
        case BiasType::none: return "none";
        case BiasType::affine: return "affine";
        case BiasType::muscle: return "muscle";
        case BiasType::dcmotor: return "dcmotor";
        case BiasType::so3: return "so3";
        case BiasType::user: return "user";
    }
    return {};
}
std::string_view name_of(ControlInput value) {
    switch (value) {
        case ControlInput::pos: return "pos";
        case ControlInput::vel: return "vel";
        case ControlInput::ff: return "ff";
        case ControlInput::voltage: return "voltage";
        case ControlInput::none: return "none";
        case ControlInput::pressure: return "pressure";
    }
    return {};
}
std::string_view name_of(ObjectType value) {
    switch (value) {
        case ObjectType::unknown: return "unknown";
        case ObjectType::body: return "body";
        case ObjectType::xbody: return "xbody";
        case ObjectType::joint: return "joint";
        case ObjectType::dof: return "dof";
        case ObjectType::geom: return "geom";
        case ObjectType::site: return "site";
        case ObjectType::camera: return "camera";
        case ObjectType::light: return "light";
        case ObjectType::flex: return "flex";
        case ObjectType::mesh: return "mesh";
        case ObjectType::skin: return "skin";
        case ObjectType::hfield: return "hfield";
        case ObjectType::texture: return "texture";
        case ObjectType::material: return "material";
        case ObjectType::pair: return "pair";
        case ObjectType::exclude: return "exclude";
        case ObjectType::equality: return "equality";
        case ObjectType::tendon: return "tendon";
        case ObjectType::actuator: return "actuator";
        case ObjectType::sensor: return "sensor";
        case ObjectType::numeric: return "numeric";
        case ObjectType::text: return "text";
        case ObjectType::tuple: return "tuple";
        case ObjectType::key: return "key";
        case ObjectType::plugin: return "plugin";
        case ObjectType::frame: return "frame";
        case ObjectType::default_: return "default";
        case ObjectType::model: return "model";
    }
    return {};
}
std::string_view name_of(SensorType value) {
    switch (value) {
        case SensorType::touch: return "touch";
        case SensorType::accelerometer: return "accelerometer";
        case SensorType::velocimeter: return "velocimeter";
        case SensorType::gyro: return "gyro";
        case SensorType::force: return "force";
        case SensorType::torque: return "torque";
        case SensorType::magnetometer: return "magnetometer";
        case SensorType::rangefinder: return "rangefinder";
        case SensorType::camprojection: return "camprojection";
        case SensorType::jointpos: return "jointpos";
        case SensorType::jointvel: return "jointvel";
        case SensorType::tendonpos: return "tendonpos";
        case SensorType::tendonvel: return "tendonvel";
        case SensorType::actuatorpos: return "actuatorpos";
        case SensorType::actuatorvel: return "actuatorvel";
        case SensorType::actuatorfrc: return "actuatorfrc";
        case SensorType::jointactfrc: return "jointactfrc";
        case SensorType::tendonactfrc: return "tendonactfrc";
        case SensorType::ballquat: return "ballquat";
        case SensorType::ballangvel: return "ballangvel";
        case SensorType::jointlimitpos: return "jointlimitpos";
        case SensorType::jointlimitvel: return "jointlimitvel";
        case SensorType::jointlimitfrc: return "jointlimitfrc";
        case SensorType::tendonlimitpos: return "tendonlimitpos";
        case SensorType::tendonlimitvel: return "tendonlimitvel";
        case SensorType::tendonlimitfrc: return "tendonlimitfrc";
        case SensorType::framepos: return "framepos";
        case SensorType::framequat: return "framequat";
        case SensorType::framexaxis: return "framexaxis";
        case SensorType::frameyaxis: return "frameyaxis";
        case SensorType::framezaxis: return "framezaxis";
        case SensorType::framelinvel: return "framelinvel";
        case SensorType::frameangvel: return "frameangvel";
        case SensorType::framelinacc: return "framelinacc";
        case SensorType::frameangacc: return "frameangacc";
        case SensorType::subtreecom: return "subtreecom";
        case SensorType::subtreelinvel: return "subtreelinvel";
        case SensorType::subtreeangmom: return "subtreeangmom";
        case SensorType::insidesite: return "insidesite";
        case SensorType::geomdist: return "geomdist";
        case SensorType::geomnormal: return "geomnormal";
        case SensorType::geomfromto: return "geomfromto";
        case SensorType::contact: return "contact";
        case SensorType::e_potential: return "e_potential";
        case SensorType::e_kinetic: return "e_kinetic";
        case SensorType::clock: return "clock";
        case SensorType::tactile: return "tactile";
        case SensorType::plugin: return "plugin";
        case SensorType::user: return "user";
    }
    return {};
}
std::string_view name_of(MeshInertia value) {
    switch (value) {
        case MeshInertia::convex: return "convex";
        case MeshInertia::exact: return "exact";
        case MeshInertia::legacy: return "legacy";
        case MeshInertia::shell: return "shell";
    }
    return {};
}
std::string_view name_of(InertiaFromGeom value) {
    switch (value) {
        case InertiaFromGeom::false_: return "false";
        case InertiaFromGeom::true_: return "true";
        case InertiaFromGeom::auto_: return "auto";
    }
    return {};
}
// clang-format on

}  // namespace hindcast::robot
