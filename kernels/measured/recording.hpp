// Numbers of arrays, kept for each step of a run: as the step begins, and as it ends. In between a
// controller may set the state anew, so that the end of a step need not be the start of the next.
#pragma once

#include <string>
#include <vector>

#include "engine/lang/kernel.hpp"
#include "engine/model/model.hpp"

namespace hindcast::measured {

class Recording {
public:
    // The number of the column that keeps this number of an array; made if there is none yet.
    int column(const Array& array, std::int64_t row, int component);

    // Makes the arrays, once all columns are known.
    void make(const model::Model& model);
    // Adds the launches: after all modules were built, so that they come last in their phases.
    void record(model::Model& model, const std::string& owner) const;

    // Column c of step k is number c * steps + k.
    const Array& begin() const { return begin_; }
    const Array& end() const { return end_; }

private:
    struct Column {
        Array array;
        std::int64_t row = 0;
        int component = 0;
    };
    std::vector<Column> columns_;
    Array begin_, end_;
};

}  // namespace hindcast::measured
