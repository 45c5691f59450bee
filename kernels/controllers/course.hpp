// Values over time: one row at each of equally spaced times, the first at the start of the run, held
// before and after.
//
//     hold     the last row
//     linear   along the line to the next row
//     cubic    the cubic Hermite polynomial whose slopes are those of the chord over both neighbours
//              (Catmull and Rom 1974), of the nearest chord at the ends: once differentiable
#pragma once

#include "engine/lang/kernel.hpp"
#include "engine/model/model.hpp"

namespace hindcast::controllers {

enum class Interpolation { hold, linear, cubic };

struct Course {
    Interpolation interpolation = Interpolation::linear;
    std::int64_t rows = 1;
    int columns = 1;
    // So many rows are so many substeps: whole numbers, so that a row begins at its substep.
    std::int32_t whole_rows = 1, whole_steps = 1;

    double rows_per_step() const { return static_cast<double>(whole_rows) / whole_steps; }

    struct At {
        lang::Float value, slope;  // the latter per row; 0 where it is held
    };
    // Of a column, at the begin of a substep. Row r, column c is number r * columns + c of `values`.
    std::vector<At> at(const lang::Property<lang::Float>& values, const lang::Int& step) const;
};

// What the field and "interpolation" and "interval" say; `quantity` is that of its values.
struct ReadCourse {
    Course course;
    const model::Quantity* quantity = nullptr;
};
// As many rows as reach the end of the run, or as many as the list of lists has.
ReadCourse read_course(const model::Settings& settings, model::Model& model, const std::string& key,
                       int columns);
// The field rows "interval" and "interpolation".
model::Field interval_field();
model::Field interpolation_field();

}  // namespace hindcast::controllers
