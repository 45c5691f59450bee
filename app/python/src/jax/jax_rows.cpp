#include "app/python/src/jax/jax_rows.hpp"

namespace hindcast::python {

namespace {

class Rows {
public:
    Rows(const RowData& numbers, std::size_t size) : numbers_(numbers), size_(size) {}
    std::vector<double> read(std::size_t row) const {
        std::vector<double> values(size_);
        for (std::size_t k = 0; k < size_; ++k)
            values[k] = numbers_.is_f64 ? static_cast<const double*>(numbers_.data)[row * size_ + k]
                                        : static_cast<const float*>(numbers_.data)[row * size_ + k];
        return values;
    }
    void write(std::size_t row, std::span<const double> values) const {
        for (std::size_t k = 0; k < size_; ++k) {
            if (numbers_.is_f64)
                static_cast<double*>(numbers_.data)[row * size_ + k] = values[k];
            else
                static_cast<float*>(numbers_.data)[row * size_ + k] = static_cast<float>(values[k]);
        }
    }

private:
    RowData numbers_;
    std::size_t size_;
};

}  // namespace

std::vector<std::int64_t> batch_of(std::span<const std::int64_t> told,
                                   std::span<const std::int64_t> dimensions) {
    std::vector<std::int64_t> sizes(told.begin(), told.end());
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        if (sizes[axis] < 0) sizes[axis] = dimensions[axis];
    return sizes;
}

std::size_t row_of(std::size_t row, std::span<const std::int64_t> batch,
                   std::span<const std::int64_t> has) {
    std::size_t result = 0, stride = 1;
    for (std::size_t axis = batch.size(); axis-- > 0;) {
        const auto size = static_cast<std::size_t>(batch[axis]);
        if (has[axis] != 0) {
            result += row % size * stride;
            stride *= size;
        }
        row /= size;
    }
    return result;
}

void run_rows(SceneFunction::Kind kind, SceneFunction& function, std::span<const RowData> operands,
              const RowData& result, std::span<const std::int64_t> batch,
              std::span<const std::int64_t> has) {
    const std::vector<std::size_t> sizes = function.operand_sizes(kind);
    const Rows out(result, function.result_size(kind));
    std::size_t count = 1;
    for (const std::int64_t size : batch) count *= static_cast<std::size_t>(size);
    std::vector<SceneFunction::Call> calls(count);
    for (std::size_t row = 0; row < count; ++row) {
        SceneFunction::Call& call = calls[row];
        call.kind = kind;
        const auto read = [&](std::size_t k) {
            return Rows(operands[k], sizes[k])
                .read(row_of(row, batch, has.subspan(k * batch.size(), batch.size())));
        };
        call.x = read(0);
        if (sizes.size() > 1) call.a = read(1);
        if (sizes.size() > 2) call.b = read(2);
    }
    if (count == 1) return out.write(0, function(calls[0]));
    const std::vector<std::vector<double>> results = function(calls);
    for (std::size_t row = 0; row < count; ++row) out.write(row, results[row]);
}

}  // namespace hindcast::python
