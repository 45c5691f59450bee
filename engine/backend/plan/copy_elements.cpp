#include "engine/backend/plan/copy_elements.hpp"

#include <algorithm>
#include <cstring>

#include "engine/backend/plan/work_split.hpp"

namespace hindcast::backend {

namespace {

void copy_range(const Copy& copy, std::int64_t begin, std::int64_t end, bool back) {
    const Binding& b = copy.array;
    auto* const array = static_cast<std::byte*>(b.data);
    const auto scalar = static_cast<std::int64_t>(copy.scalar);
    const auto move = [&](std::int64_t at, std::int64_t scalars) {
        std::byte *const a = array + at * scalar, *const k = copy.block + at * scalar;
        std::memcpy(back ? a : k, back ? k : a, static_cast<std::size_t>(scalars * scalar));
    };
    if (b.component_stride == 1 && b.element_stride == copy.components)
        return move(begin * copy.components, (end - begin) * copy.components);
    for (std::int64_t c = 0; c < copy.components; ++c) {
        if (b.element_stride == 1) {
            move(c * b.component_stride + begin, end - begin);
            continue;
        }
        for (std::int64_t e = begin; e < end; ++e)
            move(c * b.component_stride + e * b.element_stride, 1);
    }
}

void copy_all(std::span<const Copy> copies, ThreadPool* pool, bool back) {
    std::size_t bytes = 0;
    std::int64_t most = 0;
    for (const Copy& copy : copies) {
        bytes += copy.bytes();
        most = std::max(most, copy.array.count);
    }
    pool = threads_for(static_cast<double>(bytes) * work_of_byte, pool);
    split(pool, Cut(pool, most, 64), [=](std::int64_t begin, std::int64_t end) {
        for (const Copy& copy : copies)
            if (begin < copy.array.count)
                copy_range(copy, begin, std::min(end, copy.array.count), back);
    });
}

}  // namespace

void copy_out(const Copy& copy, std::int64_t begin, std::int64_t end) {
    copy_range(copy, begin, end, false);
}

void copy_out(std::span<const Copy> copies, ThreadPool* pool) { copy_all(copies, pool, false); }
void copy_back(std::span<const Copy> copies, ThreadPool* pool) { copy_all(copies, pool, true); }

}  // namespace hindcast::backend
