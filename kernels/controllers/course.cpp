#include "kernels/controllers/course.hpp"

#include <cmath>

namespace hindcast::controllers {

using lang::Float;
using lang::Int;

Course::Place Course::place(const Int& step) const {
    const auto last = static_cast<std::int32_t>(rows - 1);
    const Int place = step * whole_rows, low = min(place / whole_steps, Int(last));
    const lang::Bool over = low >= last;
    return {low, over,
            select(over, Float(0),
                   Float(place - low * whole_steps) / static_cast<double>(whole_steps))};
}

std::vector<Course::At> Course::at(const lang::Property<Float>& values, const Int& step) const {
    std::vector<At> found;
    const Place now = place(step);
    for (int c = 0; c < columns; ++c) {
        const Point<Float> p = between<Float>(
            now, Float(0), [&](const Int& row) { return Float(values[row * columns + c]); });
        found.push_back({p.value, p.slope});
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

bool is_list_of_rows(const document::Node& written) {
    return written.is_array() && written.size() > 0 && written.item(0).is_array();
}

// "interpolation" and "interval", and as many rows as reach the end of the run.
void read_interval(const model::Settings& settings, const model::Model& model, Course& course) {
    course.interpolation = interpolation_of(settings);
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

// The time of each row, `each` times over.
std::vector<double> times_of(const Course& course, const model::Model& model, int each) {
    std::vector<double> times;
    for (std::int64_t r = 0; r < course.rows; ++r)
        times.insert(
            times.end(), static_cast<std::size_t>(each),
            static_cast<double>(r * course.whole_steps) * model.step() / course.whole_rows);
    return times;
}

}  // namespace

ReadCourse read_course(const model::Settings& settings, model::Model& model, const std::string& key,
                       int columns) {
    ReadCourse read;
    Course& course = read.course;
    course.columns = columns;
    const document::Node& written = *settings.find(key);
    if (settings.find("interval") != nullptr)
        read_interval(settings, model, course);
    else if (is_list_of_rows(written) && written.size() > 1)
        throw settings
            .error(key, "these are " + std::to_string(written.size()) +
                            " rows, and nothing says how far apart in time")
            .remedy("add \"interval\", in seconds");
    if (is_list_of_rows(written)) course.rows = static_cast<std::int64_t>(written.size());
    const std::int64_t grid[] = {course.rows, columns};
    read.quantity = &settings.quantity(model, key, course.rows * columns,
                                       times_of(course, model, columns), grid);
    return read;
}

ReadCourse read_vector_course(const model::Settings& settings, model::Model& model,
                              const std::string& key) {
    ReadCourse read;
    Course& course = read.course;
    const document::Node& written = *settings.find(key);
    const std::int64_t steps = model.options().scene_steps;
    if (settings.find("interval") != nullptr) {
        read_interval(settings, model, course);
        if (is_list_of_rows(written)) course.rows = static_cast<std::int64_t>(written.size());
    } else {
        if (settings.written("interpolation"))
            throw settings
                .error("interpolation", "without \"interval\" there is a row for each step, held")
                .remedy("add \"interval\", in seconds, or leave this out");
        if (is_list_of_rows(written) && static_cast<std::int64_t>(written.size()) != steps)
            throw settings
                .error(key, "these are " + std::to_string(written.size()) +
                                " rows, and the scene has " + std::to_string(steps) + " steps")
                .remedy("write one for each step, or add \"interval\": the seconds between rows");
        course.interpolation = Interpolation::hold;
        course.whole_steps = static_cast<std::int32_t>(model.options().substeps);
        course.rows = std::max<std::int64_t>(1, steps);
    }
    read.quantity = &settings.quantity(model, key, course.rows, times_of(course, model, 1));
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
