// Values over time: one row at each of equally spaced times, the first at the start of the run, held
// before and after.
//
//     hold     the last row
//     linear   along the line to the next row
//     cubic    the cubic Hermite polynomial whose slopes are those of the chord over both neighbors
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
    // The value and slope of each column at the start of a substep. Row r, column c is number
    // r * columns + c of `values`.
    std::vector<At> at(const lang::Property<lang::Float>& values, const lang::Int& step) const;
    // The same of rows that are vectors.
    template <int D>
    lang::Vec<lang::Float, D> vector_at(const lang::Property<lang::Vec<lang::Float, D>>& rows_of,
                                        const lang::Int& step) const {
        using V = lang::Vec<lang::Float, D>;
        return between<V>(place(step), V::filled(lang::Float(0)),
                          [&](const lang::Int& row) -> V { return rows_of[row]; })
            .value;
    }

private:
    // The start of a substep: the part `t` of an interval after row `low`; `over`: at the last row.
    struct Place {
        lang::Int low;
        lang::Bool over;
        lang::Float t;
    };
    template <class T>
    struct Point {
        T value, slope;
    };
    Place place(const lang::Int& step) const;
    // `value` gives a row by its number.
    template <class T, class Value>
    Point<T> between(const Place& place, const T& zero, Value value) const;
};

template <class T, class Value>
Course::Point<T> Course::between(const Place& place, const T& zero, Value value) const {
    const auto last = static_cast<std::int32_t>(rows - 1);
    const auto& [low, over, t] = place;
    // Beyond the last row everything is held: all rows that are read are the last one.
    const auto row = [&](int ahead) {
        return value(max(min(low + ahead, lang::Int(last)), lang::Int(0)));
    };
    const T a = row(0);
    if (rows == 1 || interpolation == Interpolation::hold) return {a, zero};
    const T b = row(1), chord = b - a;
    if (interpolation == Interpolation::linear)
        return {a + t * chord, chord};  // the chord is 0 where it is over
    const auto half = [&](const lang::Bool& end, const T& across) {
        return select(end, chord, 0.5 * across);
    };
    const T left = half(low == 0, b - row(-1)), right = half(low >= last - 1, row(2) - a);
    // a + t left + t^2 (3 chord - 2 left - right) + t^3 (left + right - 2 chord)
    const T second = 3.0 * chord - 2.0 * left - right, third = left + right - 2.0 * chord;
    return {a + t * (left + t * (second + t * third)),
            select(over, zero, left + t * (2.0 * second + 3.0 * t * third))};
}

// The values of a field, and what "interpolation" and "interval" say of them.
struct ReadCourse {
    Course course;
    const model::Quantity* quantity = nullptr;
};
// As many rows as reach the end of the run, or as many as the list of lists has, of `columns` numbers
// each. In formulas t is the time of the row.
ReadCourse read_course(const model::Settings& settings, model::Model& model, const std::string& key,
                       int columns);
// The same of vectors. Without "interval" each whole step has a row, held. Throws Error where there
// are others.
ReadCourse read_vector_course(const model::Settings& settings, model::Model& model,
                              const std::string& key);
// The field rows "interval" and "interpolation".
model::Field interval_field();
model::Field interpolation_field();

}  // namespace hindcast::controllers
