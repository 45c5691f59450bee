// u_a(t) = scale_a r_a(t - delay), where r_a is a column of a CSV file with time stamps of its own:
// inputs of a measurement, replayed. Before the first row and after the last one they are held.
#include <algorithm>

#include "engine/document/csv.hpp"
#include "engine/document/read.hpp"
#include "kernels/controllers/actuators.hpp"
#include "kernels/controllers/controllers.hpp"

namespace hindcast::controllers {

namespace {

using namespace lang;
using model::Model;
using model::Settings;

// The last row whose time is not after `time`, by halves; 0 if there is none.
Int row_at(const Read<Float>& times, const Float& time, std::int32_t rows) {
    Int low(0), width(rows);
    // Between low, which is not after it or the first one, and low + width, which is after it.
    std::int64_t halvings = 0;
    while ((std::int64_t{1} << halvings) < rows) ++halvings;
    repeat(halvings, [&](Int) {
        const Int half = width / 2, middle = low + half;
        const Bool after = times[min(middle, Int(rows - 1))] > time;
        low = select(after || half == 0, low, middle);
        width = select(after && half > 0, half, width - half);
    });
    return low;
}

KernelDef recorded(std::int32_t rows, bool linear, const std::vector<int>& actuators) {
    return kernel(
        "recorded_control", {"times", "records", "scale", "delay", "step", "h", "control"},
        [rows, linear, actuators](Int, Read<Float> times, Read<Float> records,
                                  Property<Float> scale, Property<Float> delay, Param<Int> step,
                                  Param<Float> h, Accumulate<Float> control) {
            const int columns = static_cast<int>(actuators.size());
            const Float time = (Float(step.value()) + 0.5) * h.value() - delay[0];
            const Int row = row_at(times, time, rows), next = min(row + 1, Int(rows - 1));
            const Float begin = times[row], length = times[next] - begin;
            const Bool inside = time > begin && length > 0.0;
            const Float part =
                select(inside, (time - begin) / select(inside, length, Float(1)), Float(0));
            for (int a = 0; a < columns; ++a) {
                Float now = records[row * columns + a];
                if (linear) now = now + part * (records[next * columns + a] - now);
                control[actuators[articulated::at(a)]] += scale[a] * now;
            }
        });
}

class Recorded final : public model::Instance {
public:
    explicit Recorded(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Actuators actuators = actuators_of(*settings_, model);
        const document::CsvTable table =
            document::read_csv(model.options().files.resolve(*settings_->find("file")));
        const std::vector<double> times = times_of(table);
        const Array records = records_of(model, table, actuators.count());
        Array stamps(model.real(), {static_cast<std::int64_t>(times.size()), 1});
        stamps.assign(times);
        add(model, *settings_, actuators,
            recorded(static_cast<std::int32_t>(times.size()),
                     settings_->choice("interpolation") == "linear", actuators.numbers),
            {{"times", stamps},
             {"records", records},
             {"scale", numbers_of_each(model, *settings_, "scale", actuators)},
             {"delay", settings_->quantity(model, "delay").argument()},
             {"h", model.step()}},
            "recorded");
    }

private:
    std::vector<double> times_of(const document::CsvTable& table) const {
        std::vector<double> times = document::increasing(table, settings_->text("time"));
        if (times.empty())
            throw settings_->error("file", "the file has no rows").remedy("write some");
        if (times.size() > 10'000'000)
            throw settings_->error("file", "the file has more than 10 million rows")
                .remedy("leave out some");
        const double start = settings_->number("start");
        for (double& time : times) time -= start;
        return times;
    }

    Array records_of(const Model& model, const document::CsvTable& table,
                     std::int64_t actuators) const {
        const document::Node& list = *settings_->find("columns");
        const auto columns = static_cast<std::int64_t>(document::array_of(list, 1).size());
        if (columns != actuators)
            throw settings_
                ->error("columns", "these are " + std::to_string(columns) + " columns for " +
                                       std::to_string(actuators) + " actuators")
                .remedy("name a column for each of \"actuators\"");
        std::vector<double> all(table.rows() * static_cast<std::size_t>(columns));
        for (std::size_t c = 0; c < list.size(); ++c) {
            const std::vector<double> numbers = table.numbers(document::string_of(list.item(c)));
            for (std::size_t k = 0; k < numbers.size(); ++k) all[k * list.size() + c] = numbers[k];
        }
        Array array(model.real(), {static_cast<std::int64_t>(all.size()), 1});
        array.assign(all);
        return array;
    }

    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_recorded(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::controllers,
         "recorded",
         "Recorded control of a robot",
         "Adds columns of a CSV file with time stamps to the controls of actuators: scale r(t - "
         "delay), as it is in the middle of each step. Before the first row and after the last one "
         "they are held.",
         {of_field(), actuators_field(),
          text("file")
              .schema(document::csv_file_schema)
              .doc("the CSV file, beside the scene or below: a line of names, then rows"),
          text("time")
              .fallback("\"time\"")
              .schema(document::csv_column_schema)
              .doc("the column of times, in s"),
          list("columns")
              .schema(document::csv_column_schema)
              .doc("one for each actuator, in their order"),
          number("start").unit("s").fallback("0").doc("time of the file at the start of the run"),
          choice("interpolation", {"linear", "hold"})
              .fallback("\"linear\"")
              .doc("between rows: along the line, or the last one"),
          number("delay").unit("s").fallback("0").differentiable().doc(
              "of what acts behind what was recorded"),
          values("scale").fallback("1").differentiable().doc(
              "of each actuator: a motor's torque per current, say")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<Recorded>(std::move(s)); },
         true});
}

}  // namespace hindcast::controllers
