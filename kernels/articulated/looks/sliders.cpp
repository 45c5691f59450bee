#include "kernels/articulated/looks/sliders.hpp"

#include <numbers>

#include "engine/model/handles/sliders.hpp"
#include "engine/robot/model_reader.hpp"

namespace hindcast::articulated {

using model::Slider;
using robot::JointType;
using robot::ObjectKind;
using robot::RobotModel;

namespace {

// Ranges, from -x to x, without limits: slides (m) and controls, places (m), hinges (rad).
constexpr double usual = 1, usual_place = 2, turn = std::numbers::pi;

class Offer : robot::ModelReader {
public:
    explicit Offer(const RobotModel& robot) : ModelReader(robot) {}

    std::vector<Slider> controls() const {
        std::vector<Slider> all;
        for (int u = 0; u < count("nu"); ++u) {
            Slider s;
            s.element = u;
            s.name = name(ObjectKind::actuator, u);
            s.group = "Controls";
            s.meaning = "Control of the actuator, held over time";
            set_range(s, "actuator_ctrllimited", "actuator_ctrlrange", u, usual);
            all.push_back(std::move(s));
        }
        return all;
    }

    std::vector<Slider> positions() const {
        std::vector<Slider> all;
        for (int j = 0; j < count("njnt"); ++j) {
            const auto type = robot::enum_at<JointType>(m_.integers("jnt_type"), j);
            Slider s;
            s.element = integer("jnt_qposadr", j);
            s.name = name(ObjectKind::joint, j);
            s.group = "Joints at the start";
            if (type == JointType::hinge || type == JointType::slide) {
                const bool turns = type == JointType::hinge;
                s.unit = turns ? "rad" : "m";
                s.meaning =
                    turns ? "Angle of the hinge at the start" : "Way of the slide at the start";
                set_range(s, "jnt_limited", "jnt_range", j, turns ? turn : usual);
                all.push_back(std::move(s));
            } else if (type == JointType::free) {
                s.unit = "m";
                s.meaning = "Place of the free body at the start";
                const std::string joint = s.name;
                for (const char* axis : {" x", " y", " z"}) {
                    s.name = joint + axis;
                    s.low = -usual_place;
                    s.high = usual_place;
                    all.push_back(s);
                    ++s.element;
                }
            }
        }
        return all;
    }

private:
    std::string name(ObjectKind kind, int number) const {
        const std::string& own = m_.names(kind)[static_cast<std::size_t>(number)];
        return own.empty() ? m_.describe(kind, number) : own;
    }
    void set_range(Slider& s, const char* limited, const char* range, int number,
                   double otherwise) const {
        s.limited = integer(limited, number) != 0;
        s.low = s.limited ? real(range, 2 * number) : -otherwise;
        s.high = s.limited ? real(range, 2 * number + 1) : otherwise;
    }
};

}  // namespace

void offer_sliders(model::Model& model, const std::string& body, const RobotModel& robot) {
    const Offer offer(robot);
    model::offer_sliders(model, body + ".ctrl", offer.controls());
    model::offer_sliders(model, body + ".qpos", offer.positions());
}

}  // namespace hindcast::articulated
