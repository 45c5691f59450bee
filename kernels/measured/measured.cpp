// A measured objective compares numbers of the simulation with the columns of a file:
//
//     r = (x(t - delay) - (scale m + offset)) / sigma      for each sample m at time t
//     value = sum over samples of rho(r) / 2               (engine/optim/robust_loss.hpp)
//
// x is continued between the start and the end of the step that the time lies in (channels.hpp).
// Steps record the numbers; one launch after the last step makes the residuals.
#include "kernels/measured/measured.hpp"

#include <fmt/format.h>

#include "engine/document/csv.hpp"
#include "engine/document/read.hpp"
#include "engine/model/residuals.hpp"
#include "kernels/measured/channels.hpp"
#include "kernels/measured/motion.hpp"
#include "kernels/measured/recording.hpp"

namespace hindcast {

namespace measured {

using namespace lang;
using model::Model;
using model::Quantity;
using model::ResidualBlock;
using model::Settings;
using optim::Loss;

namespace {

// The parts of a step for the cubic Hermite polynomial with the slopes per step.
Float hermite(const Float& a, const Float& b, const Float& slope_a, const Float& slope_b,
              const Float& t) {
    const Float chord = b - a;
    const Float second = 3.0 * chord - 2.0 * slope_a - slope_b,
                third = slope_a + slope_b - 2.0 * chord;
    return a + t * (slope_a + t * (second + t * third));
}

// One item does all samples: what is read at indices that depend on the delay is then summed in
// their order on the way back.
KernelDef residuals(const std::vector<Channel>& channels, const std::vector<std::int64_t>& first,
                    std::int32_t steps) {
    return kernel("measured_residuals",
                  {"begin", "end", "sample_step", "sample_part", "sample", "delay", "scale",
                   "offset", "sigma", "h", "residual"},
                  [channels, first, steps](
                      Int, Read<Float> begin, Read<Float> end, Read<Int> sample_step,
                      Read<Float> sample_part, Read<Float> sample, Property<Float> delay,
                      Property<Float> scale, Property<Float> offset, Property<Float> sigma,
                      Param<Float> h, WriteSlice<Float> residual) {
                      const Float late = delay[0] / h.value();  // in steps
                      for (std::size_t c = 0; c < channels.size(); ++c) {
                          const Channel& channel = channels[c];
                          const int number = static_cast<int>(c);
                          for_(static_cast<std::int32_t>(first[c]),
                               static_cast<std::int32_t>(first[c + 1]), [&](Int s) {
                                   const Float place = sample_part[s] - late;
                                   const Int k = clamp(sample_step[s] + Int(floor(place)), Int(0),
                                                       Int(steps - 1));
                                   const Float t = place + Float(sample_step[s] - k);
                                   const auto kept = [&](const Read<Float>& from, int column) {
                                       return Float(from[k + column * steps]);
                                   };
                                   Float x = kept(end, channel.value);
                                   if (channel.between == Between::hold && channel.is_state) {
                                       x = select(t < 1.0, kept(begin, channel.value), x);
                                   } else if (channel.between == Between::linear) {
                                       const Float a = kept(begin, channel.value);
                                       x = a + t * (x - a);
                                   } else if (channel.between == Between::cubic) {
                                       x = hermite(kept(begin, channel.value), x,
                                                   h.value() * kept(begin, channel.slope),
                                                   h.value() * kept(end, channel.slope), t);
                                   }
                                   const Float target = scale[number] * sample[s] + offset[number];
                                   residual.store_once(s, (x - target) / sigma[number]);
                               });
                      }
                  });
}

Float rho(Loss loss, const Float& r, const Float& width) {
    const Float square = r * r;
    switch (loss) {
        case Loss::squared: return square;
        case Loss::huber: return select(abs(r) <= width, square, width * (2.0 * abs(r) - width));
        case Loss::cauchy: return width * width * log(1.0 + square / (width * width));
    }
    return square;
}

KernelDef half_of_losses(Loss loss) {
    return kernel("residual_loss", {"residual", "width", "value"},
                  [loss](Int i, Read<Float> residual, Property<Float> width, Reduce<Float> value) {
                      value += 0.5 * rho(loss, residual[i], width[0]);
                  });
}

class Measured final : public model::Instance {
public:
    explicit Measured(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Settings& s = *settings_;
        const std::int64_t steps = model.options().steps;
        if (s.node().find("at") != nullptr)
            throw s.error("at", "the file says at which times there are samples")
                .remedy("remove this key; \"from\" and \"until\" choose among them");
        if (steps == 0)
            throw s.error("type", "a run without steps has nothing to compare")
                .remedy("let the scene make a step");
        const std::vector<Channel> channels = read_channels(s, model, recording_);
        const Samples samples = read(model, channels);
        recording_.make(model);
        const auto count = static_cast<std::int64_t>(channels.size());
        Quantity& delay = s.quantity(model, "delay");
        restrict(delay, samples, model);
        const Quantity &scale = s.quantity(model, "scale", count),
                       &offset = s.quantity(model, "offset", count),
                       &sigma = s.quantity(model, "sigma", count),
                       &width = s.quantity(model, "width");

        const Array residual = model.add_array(
            s.name() + ".residual", samples.count(), 1,
            {.meaning = "difference of each sample, channel by channel, in sigmas"});
        const auto reals = [&](const std::vector<double>& values) {
            Array array(model.real(), {static_cast<std::int64_t>(values.size()), 1});
            array.assign(values);
            return array;
        };
        ResidualBlock block;
        block.owner = s.name();
        block.file = s.text("file");
        block.loss = loss();
        block.width = &width;
        block.times = samples.times;
        block.measured = samples.values;
        block.values = residual;
        block.sigma = &sigma;
        block.scale = &scale;
        block.offset = &offset;
        for (std::size_t c = 0; c < channels.size(); ++c)
            block.channels.push_back(
                {channels[c].column, samples.first[c], samples.first[c + 1] - samples.first[c]});

        model::Term term{.name = s.name(), .times = {steps}, .value = Array(ir::Type::f64, {1})};
        if (const document::Node* const weight = s.node().find("weight"))
            term.weight = document::number_of(*weight, document::Range::at_least(0));
        block.weight = term.weight;
        model.shared<model::Residuals>().blocks.push_back(std::move(block));
        const SampleArrays arrays{.step = model.index_array(samples.steps, 1),
                                  .part = reals(samples.parts),
                                  .value = reals(samples.values),
                                  .delay = delay.argument(),
                                  .scale = scale.argument(),
                                  .offset = offset.argument()};
        const auto& robots = model.shared<articulated::Robots>().by_name;
        if (const auto robot = robots.find(s.text("of")); robot != robots.end())
            show_motion(model, s.name(), robot->second, channels, samples, arrays);
        Program program;
        program.add(
            model.launch(residuals(channels, samples.first, static_cast<std::int32_t>(steps)), 1,
                         arrays.with({{"begin", recording_.begin()},
                                      {"end", recording_.end()},
                                      {"sigma", sigma.argument()},
                                      {"h", model.step()},
                                      {"residual", residual}}),
                         s.name() + ": residuals"));
        program.add(model.launch(
            half_of_losses(loss()), samples.count(),
            {{"residual", residual}, {"width", width.argument()}, {"value", term.value}},
            s.name() + ": loss"));
        model.add_term(std::move(term), program);
    }

    void finish(Model& model) override { recording_.record(model, settings_->name()); }

private:
    Loss loss() const {
        const std::string name = settings_->choice("loss");
        return name == "huber" ? Loss::huber : name == "cauchy" ? Loss::cauchy : Loss::squared;
    }

    Samples read(Model& model, const std::vector<Channel>& channels) const {
        const Settings& s = *settings_;
        const document::Node& file = *s.find("file");
        const std::filesystem::path path = model.options().files.resolve(file);
        const std::int64_t steps = model.options().steps;
        const double end = static_cast<double>(steps) * model.step() * (1 + 1e-12);
        const double from = s.number("from"),
                     until = s.find("until") == nullptr ? end : std::min(s.number("until"), end);
        try {
            return read_samples(document::read_csv(path), s.text("time"), channels,
                                s.number("start"), from, until, model.step(), steps);
        } catch (Error& error) {
            if (error.json_pointer().empty()) error.at_pointer(file.pointer());
            throw;
        }
    }

    // The delays for which the run has the motion at the times of all samples.
    void restrict(Quantity& delay, const Samples& samples, const Model& model) const {
        const double end = static_cast<double>(model.options().steps) * model.step();
        delay.range.low = std::min(samples.latest - end, 0.0);
        delay.range.high = samples.earliest;
        if (const double d = delay.values[0]; d < delay.range.low || d > delay.range.high)
            throw settings_
                ->error("delay",
                        fmt::format("with a delay of {} s there are samples whose motion is "
                                    "not within the run; it may be from {} s to {} s",
                                    d, delay.range.low, delay.range.high))
                .remedy("leave such samples out by \"from\" and \"until\"");
    }

    std::shared_ptr<Settings> settings_;
    Recording recording_;
};

}  // namespace

}  // namespace measured

void register_measured(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::objective,
         "measured",
         "Measured data",
         "Half the sum of squared residuals of measured data: r = (x(t - delay) - (scale m + "
         "offset)) / sigma for each sample m at time t of each channel, with x continued between "
         "steps; value = sum of rho(r) / 2, where rho(r) = r^2; huber: r^2 for |r| <= width, else "
         "width (2 |r| - width); cauchy: width^2 log(1 + (r / width)^2). What is compared at "
         "exactly the time of a step is the state that the next step begins with.",
         {body("of").doc("the body that was measured"),
          text("file")
              .schema(document::csv_file_schema)
              .doc("a table in CSV with a line of column names, beside the scene or below"),
          text("time")
              .fallback("\"time\"")
              .schema(document::csv_column_schema)
              .doc("the column of times, in seconds"),
          list("channels")
              .schema(R"({"type":"object","required":["column","array"],
"additionalProperties":false,"properties":{"column":{"type":"string","means":"column"},
"array":{"type":"string"},"index":{"type":["integer","string"]},
"component":{"type":"integer","minimum":0},
"between":{"enum":["hold","linear","cubic"]}}})")
              .doc("what is compared: {\"column\": of the file, \"array\": of the body (of points: "
                   "position, velocity; of a robot: qpos, qvel, xpos, sensordata, actuator_force "
                   "...), "
                   "\"index\": number of its element, or name of the joint, body, sensor or "
                   "actuator, "
                   "\"component\", \"between\"}. A robot has no position and velocity of points: "
                   "the "
                   "place of a site is that of a framepos sensor in the model, its velocity that "
                   "of a "
                   "framelinvel sensor, which \"sensors\" of the body names and sensordata holds "
                   "(index \"tip:0\" for x). Between steps positions of points, hinges and "
                   "slides "
                   "go along the cubic that has their velocities, other states along a line; "
                   "forces, "
                   "accelerations and sensors are those of the state at the begin of the step "
                   "(hold). "
                   "\"between\" may choose hold, linear or cubic for states. Empty cells are no "
                   "samples"),
          number("start").fallback("0").unit("s").doc("time of the file that is the scene's 0"),
          number("from").fallback("0").unit("s").at_least(0).doc("earlier samples are left out"),
          number("until").optional().unit("s").at_least(0).doc(
              "later samples are left out; without it those after the run"),
          number("delay").fallback("0").unit("s").differentiable().doc(
              "a sample of time t shows the motion at t - delay, which must lie within the run for "
              "all samples: give it room by \"from\" and \"until\""),
          values("scale").fallback("1").differentiable().doc(
              "of each channel, from the file's numbers to those of the scene"),
          values("offset").fallback("0").differentiable().doc(
              "of each channel, in the scene's units"),
          values("sigma").fallback("1").positive().doc(
              "of each channel, standard deviation of its samples in the scene's units"),
          choice("loss", {"squared", "huber", "cauchy"})
              .fallback("\"squared\"")
              .doc("rho; huber and cauchy count samples less that are far off"),
          number("width").fallback("1.5").positive().doc(
              "of huber and cauchy, in sigmas: residuals beyond it count less")},
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<measured::Measured>(std::move(s));
         }});
}

}  // namespace hindcast
