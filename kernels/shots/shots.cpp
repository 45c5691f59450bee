// At the start of the step at which a shot begins, the robot's state is set to that of the shot.
//
// With states that were measured the shots are roll-outs of their own; with states that are parameters
// and an objective "continuity" they come together to one trajectory (Bock 1983). Either way no shot is
// longer than errors take to grow.
#include "kernels/shots/shots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/document/csv.hpp"
#include "engine/document/read.hpp"
#include "engine/model/residuals.hpp"
#include "kernels/articulated/dynamics/kinematics.hpp"
#include "kernels/articulated/robots.hpp"

namespace hindcast {

namespace shots {

using namespace lang;
using articulated::at;
using model::Model;
using model::Phase;
using model::Quantity;
using model::Settings;

namespace {

// One item per number of the state: set where a shot begins, kept elsewhere.
KernelDef reset(int numbers) {
    return kernel("shots_reset", {"shot", "values", "step", "x"},
                  [numbers](Int i, Read<Int> shot, Property<Float> values, Param<Int> step,
                            ReadWrite<Float> x) {
                      const Int begins = shot[step.value()];
                      const Float now = x[i];
                      x[i] = select(begins >= 0, values[max(begins, Int(0)) * numbers + i], now);
                  });
}

KernelDef jump(const articulated::TreePointer& tree, std::int32_t jumps) {
    return kernel(
        "shots_jump", {"shot", "values_qpos", "values_qvel", "step", "qpos", "qvel", "jumps"},
        [tree, jumps](Int, Read<Int> shot, Property<Float> values_qpos, Property<Float> values_qvel,
                      Param<Int> step, Read<Float> qpos, Read<Float> qvel, WriteSlice<Float> out) {
            const Int begins = shot[step.value()];
            if_(begins > 0, [&] {
                const Int row = begins - 1;
                const auto put = [&](int dof, const Float& value) {
                    out.store_once(row + dof * jumps, value);
                };
                for (const articulated::Joint& joint : tree->joints) {
                    const auto wanted = [&](int k) {
                        return Float(values_qpos[begins * tree->nq + joint.qpos + k]);
                    };
                    const int ways = joint.scalars();
                    for (int k = 0; k < ways; ++k)
                        put(joint.dof + k, qpos[joint.qpos + k] - wanted(k));
                    if (joint.dofs() > 1) {
                        const int q = joint.qpos + ways;
                        const Quat then =
                            articulated::quaternion_at(values_qpos, begins * tree->nq + q);
                        const Vec3 turn =
                            rotation_vector(conjugate(then) * articulated::quaternion_at(qpos, q));
                        for (int k = 0; k < 3; ++k) put(joint.dof + ways + k, turn[k]);
                    }
                    for (int k = 0; k < joint.dofs(); ++k)
                        put(tree->nv + joint.dof + k,
                            qvel[joint.dof + k] - values_qvel[begins * tree->nv + joint.dof + k]);
                }
            });
        });
}

class Controller final : public model::Instance {
public:
    explicit Controller(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Settings& s = *settings_;
        robot_ = &articulated::robot_of(s, model, "of");
        if (robot_->tree->na > 0)
            throw s
                .error("of", "the robot '" + robot_->name +
                                 "' has actuators with activations, which shots do not set")
                .remedy("make a shot of the whole run, without this controller");
        Shots& own = model.shared<AllShots>().by_name[s.name()];
        own.tree = robot_->tree;
        own.times = times(model);
        own.qpos = &state(model, own.times, "qpos", "qpos_columns", robot_->tree->nq);
        own.qvel = &state(model, own.times, "qvel", "qvel_columns", robot_->tree->nv);
        for (const Quantity* const q : {own.qpos, own.qvel})
            model.shared<model::Residuals>().of_one_recording.insert(q->path);
    }

    void finish(Model& model) override {
        const Shots& own = model.shared<AllShots>().by_name.at(settings_->name());
        const Array qpos = model.array(robot_->name + ".qpos"),
                    qvel = model.array(robot_->name + ".qvel"),
                    shot = model.index_array(begins_, 1);
        const articulated::Tree& tree = *robot_->tree;
        const auto add = [&](const KernelDef& kernel, std::int64_t items,
                             const std::vector<NamedArgument>& arguments, const char* what) {
            std::vector<NamedArgument> all = arguments;
            all.emplace_back("shot", shot);
            all.emplace_back("step", model.step_counter());
            model.add(Phase::begin,
                      model.launch(kernel, items, all, settings_->name() + ": " + what));
        };
        if (own.jumps && own.jump_count() > 0)
            add(jump(robot_->tree, static_cast<std::int32_t>(own.jump_count())), 1,
                {{"values_qpos", own.qpos->argument()},
                 {"values_qvel", own.qvel->argument()},
                 {"qpos", qpos},
                 {"qvel", qvel},
                 {"jumps", *own.jumps}},
                "jump");
        add(reset(tree.nq), tree.nq, {{"values", own.qpos->argument()}, {"x", qpos}}, "positions");
        add(reset(tree.nv), tree.nv, {{"values", own.qvel->argument()}, {"x", qvel}}, "velocities");
        for (const Launch& l : robot_->placed) model.add(Phase::begin, l);
    }

private:
    // And of each step which shot begins with it; -1: none.
    std::vector<double> times(const Model& model) {
        const Settings& s = *settings_;
        const double h = model.step();
        const std::int64_t steps = model.options().steps,
                           all = model.options().scene_steps * model.options().substeps;
        std::vector<double> wanted;
        const document::Node *const every = s.find("every"), *const list = s.find("times");
        if ((every == nullptr) == (list == nullptr))
            throw s
                .error(every == nullptr ? "type" : "every",
                       "the begins of shots are said by one of \"every\" and \"times\"")
                .remedy("write one of them");
        if (every != nullptr) {
            const double interval = s.number("every");
            if (interval < 0.5 * h)
                throw s.error("every", "shots are shorter than a step")
                    .remedy(fmt::format("write a multiple of the step, {} s", h));
            for (std::int64_t k = 0;
                 static_cast<double>(k) * interval < (static_cast<double>(all) - 0.5) * h; ++k)
                wanted.push_back(static_cast<double>(k) * interval);
        } else {
            for (std::size_t k = 0; k < document::array_of(*list, 1).size(); ++k)
                wanted.push_back(document::number_of(list->item(k)));
        }
        begins_.assign(static_cast<std::size_t>(steps), -1);
        std::int64_t before = -1;
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            const double place = wanted[k] / h, whole = std::round(place);
            const auto fault = [&](const std::string& what) {
                return list != nullptr ? document::fault(list->item(k), what)
                                       : s.error("every", what);
            };
            if (std::fabs(place - whole) > 1e-6 * std::max(1.0, whole))
                throw fault(fmt::format("{} s is not the time of a step", wanted[k]))
                    .remedy(fmt::format("shots begin at multiples of the step, {} s", h));
            const auto step = static_cast<std::int64_t>(whole);
            if (k == 0 && step != 0)
                throw fault("the first shot begins at 0").remedy("write 0 first");
            if (step <= before) throw fault("shots do not come one after the other");
            before = step;
            if (step < steps)
                begins_[static_cast<std::size_t>(step)] = static_cast<std::int64_t>(k);
        }
        if (before >= all)
            throw s.error(list != nullptr ? "times" : "every", "a shot begins after the run")
                .remedy("leave it out, or make more steps");
        return wanted;
    }

    // As written, or as the file has it at the starts of the shots.
    const Quantity& state(Model& model, const std::vector<double>& times, const char* key,
                          const char* columns, int numbers) const {
        const Settings& s = *settings_;
        const auto shots = static_cast<std::int64_t>(times.size());
        if (s.find(key) != nullptr) {
            const std::int64_t grid[] = {shots, numbers};
            return s.quantity(model, key, shots * numbers, {}, grid);
        }
        if (s.find("file") == nullptr || s.find(columns) == nullptr)
            throw s.error("type", fmt::format("nothing says {} of the shots", key))
                .remedy(fmt::format("write \"{}\", or \"file\" and \"{}\"", key, columns));
        const document::Node& list = document::array_of(*s.find(columns));
        if (list.size() != at(numbers))
            throw s
                .error(columns, fmt::format("these are {} columns for {} numbers of the robot's {}",
                                            list.size(), numbers, key))
                .remedy("name a column for each of them, in the model's order");
        const document::CsvTable table =
            document::read_csv(model.options().files.resolve(*s.find("file")));
        const std::vector<double> stamps = document::increasing(table, s.text("time"));
        std::vector<double> values(at(numbers) * times.size());
        for (std::size_t c = 0; c < list.size(); ++c) {
            const std::vector<double> column = table.numbers(document::string_of(list.item(c)));
            for (std::size_t k = 0; k < times.size(); ++k)
                values[k * list.size() + c] = value_at(stamps, column, times[k]);
        }
        return s.quantity_of(model, key, shots * numbers, std::move(values));
    }

    // Along the line between two rows.
    double value_at(const std::vector<double>& stamps, const std::vector<double>& column,
                    double time) const {
        const double t = time + settings_->number("start");
        if (stamps.empty() || t < stamps.front() || t > stamps.back())
            throw settings_
                ->error("file",
                        fmt::format("a shot begins at {} s of the file, which goes from {} s "
                                    "to {} s",
                                    t, stamps.empty() ? 0 : stamps.front(),
                                    stamps.empty() ? 0 : stamps.back()))
                .remedy(
                    "set \"start\" to the time of the file that is the scene's 0, or let shots "
                    "begin where it has rows");
        const auto next = std::ranges::upper_bound(stamps, t);
        const auto k = static_cast<std::size_t>(next - stamps.begin()) - 1;
        if (next == stamps.end()) return column[k];
        const double part = (t - stamps[k]) / (stamps[k + 1] - stamps[k]);
        return column[k] + part * (column[k + 1] - column[k]);
    }

    std::shared_ptr<Settings> settings_;
    articulated::Robot* robot_ = nullptr;
    std::vector<std::int64_t> begins_;
};

}  // namespace

}  // namespace shots

void register_shots(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::controllers,
         "shots",
         "Run in pieces",
         "Cuts the run into shots: at the begin of each the robot's positions and velocities are "
         "set "
         "to a state of its own, measured or to be found (multiple shooting). The objective "
         "\"continuity\" makes the shots meet.",
         {body("of").doc("the name of the robot"),
          number("every").optional().unit("s").positive().doc(
              "from the begin of a shot to the next; a multiple of the step"),
          list("times")
              .optional()
              .schema(R"({"type":["number","string"],"unit":"s"})")
              .doc("in place of \"every\": the begins of all shots, the first at 0, in s"),
          values("qpos").optional().differentiable().doc(
              "positions at the begins: a list of rows, one for each shot, as the robot's qpos"),
          values("qvel").optional().differentiable().doc("velocities at the begins, likewise"),
          text("file")
              .optional()
              .schema(document::csv_file_schema)
              .doc("a table in CSV whose columns have what \"qpos\" or \"qvel\" leave out, along "
                   "the line between its rows"),
          text("time")
              .fallback("\"time\"")
              .schema(document::csv_column_schema)
              .doc("its column of times, in s"),
          list("qpos_columns")
              .optional()
              .schema(document::csv_column_schema)
              .doc("one for each number of the robot's qpos"),
          list("qvel_columns")
              .optional()
              .schema(document::csv_column_schema)
              .doc("one for each degree of freedom"),
          number("start").fallback("0").unit("s").doc("time of the file that is the scene's 0")},
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<shots::Controller>(std::move(s));
         }});
    shots::register_continuity(registry);
}

}  // namespace hindcast
