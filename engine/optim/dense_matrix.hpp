// A matrix of f64, column by column.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hindcast::optim {

struct DenseMatrix {
    std::size_t rows = 0, columns = 0;
    std::vector<double> values;

    DenseMatrix() = default;
    DenseMatrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}

    double& operator()(std::size_t row, std::size_t column) { return values[column * rows + row]; }
    double operator()(std::size_t row, std::size_t column) const {
        return values[column * rows + row];
    }
    std::span<double> column(std::size_t c) { return std::span(values).subspan(c * rows, rows); }
    std::span<const double> column(std::size_t c) const {
        return std::span(values).subspan(c * rows, rows);
    }
};

}  // namespace hindcast::optim
