#include "kernels/controllers/course.hpp"

#include <cmath>

#include "kernels/controllers/actuators.hpp"

namespace hindcast::controllers {

using lang::Float;
using lang::Int;

std::vector<Course::At> Course::at(const lang::Property<Float>& values, const Int& step) const {
    std::vector<At> found;
    const auto last = static_cast<std::int32_t>(rows - 1);
    const Int place = step * whole_rows, low = min(place / whole_steps, Int(last));
    // Beyond the last row everything is held: all rows that are read are the last one.
    const auto row = [&](int ahead) { return max(min(low + ahead, Int(last)), Int(0)); };
    const lang::Bool over = low >= last;
    const Float t =
        select(over, Float(0), Float(place - low * whole_steps) / static_cast<double>(whole_steps));
    for (int c = 0; c < columns; ++c) {
        const auto value = [&](int ahead) { return Float(values[row(ahead) * columns + c]); };
        if (rows == 1 || interpolation == Interpolation::hold) {
            found.push_back({value(0), Float(0)});
            continue;
        }
        const Float a = value(0), b = value(1), chord = b - a;
        if (interpolation == Interpolation::linear) {
            found.push_back({a + t * chord, chord});  // the chord is 0 where it is over
            continue;
        }
        const auto half = [&](const lang::Bool& end, const Float& across) {
            return select(end, chord, 0.5 * across);
        };
        const Float left = half(low == 0, b - value(-1)),
                    right = half(low >= last - 1, value(2) - a);
        // a + t left + t^2 (3 chord - 2 left - right) + t^3 (left + right - 2 chord)
        const Float second = 3.0 * chord - 2.0 * left - right, third = left + right - 2.0 * chord;
        found.push_back({a + t * (left + t * (second + t * third)),
                         select(over, Float(0), left + t * (2.0 * second + 3.0 * t * third))});
    }
    return found;
}

namespace {

constexpr std::int32_t most_whole_rows = 1000;

bool is_whole(double x) { return x > 0.5 && std::fabs(x - std::round(x)) < 1e-9 * x; }

Interpolation interpolation_of(const model::Settings& settings) {
    const std::string choice = settings.choice("interpolation");
    return choice == "hold"     ? Interpolation::hold
           : choice == "linear" ? Interpolation::linear
                                : Interpolation::cubic;
}

}  // namespace

ReadCourse read_course(const model::Settings& settings, model::Model& model, const std::string& key,
                       int columns) {
    ReadCourse read;
    Course& course = read.course;
    course.columns = columns;
    course.interpolation = interpolation_of(settings);
    const document::Node& written = *settings.find(key);
    const bool listed = written.is_array() && written.size() > 0 && written.item(0).is_array();
    if (settings.find("interval") == nullptr) {
        if (listed && written.size() > 1)
            throw settings
                .error(key, "these are " + std::to_string(written.size()) +
                                " rows, and nothing says how far apart in time")
                .remedy("add \"interval\", in seconds");
    } else {
        const double interval = settings.number("interval");
        // The least number of rows that are a whole number of substeps.
        const double steps = interval / model.step();
        std::int32_t rows = 1;
        while (rows <= most_whole_rows && !is_whole(rows * steps)) ++rows;
        if (rows > most_whole_rows || rows * steps > 1e6)
            throw settings
                .error("interval", "up to " + std::to_string(most_whole_rows) +
                                       " of it are no whole number of substeps, or too many")
                .remedy("write a multiple of the step, or a simple fraction of one");
        course.whole_rows = rows;
        course.whole_steps = static_cast<std::int32_t>(std::lround(rows * steps));
        const std::int64_t run = model.options().scene_steps * model.options().substeps;
        if (run > (std::int64_t{1} << 31) / rows)
            throw settings.error("interval", "the run has too many steps for it")
                .remedy("write a multiple of the step");
        course.rows =
            std::max<std::int64_t>(1, (run * rows + course.whole_steps - 1) / course.whole_steps);
        if (course.interpolation != Interpolation::hold) ++course.rows;
    }
    if (listed) course.rows = static_cast<std::int64_t>(written.size());
    const std::int64_t grid[] = {course.rows, columns};
    read.quantity = &settings.quantity(model, key, course.rows * columns, {}, grid);
    return read;
}

model::Field interval_field() {
    return model::number("interval")
        .optional()
        .unit("s")
        .positive()
        .doc("between rows, the first of which is at the start; without it there is one row, held");
}

model::Field interpolation_field() {
    return model::choice("interpolation", {"hold", "linear", "cubic"})
        .fallback("\"linear\"")
        .doc(
            "between rows: the last one, a line, or a cubic that is once differentiable "
            "(Catmull and Rom)");
}

}  // namespace hindcast::controllers
