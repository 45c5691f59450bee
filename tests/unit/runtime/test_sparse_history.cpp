// Arrays of mostly zeros, kept step by step: what comes back, and what is not kept.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "engine/base/thread_pool.hpp"
#include "engine/runtime/history/sparse_history.hpp"

using namespace hindcast;
using ir::Type;

namespace {

std::vector<unsigned char> bytes_of(const Array& array) {
    std::vector<unsigned char> bytes(array.bytes());
    std::memcpy(bytes.data(), array.data(), bytes.size());
    return bytes;
}

void save(SparseHistory& history, std::int64_t slot, ThreadPool* pool = nullptr) {
    backend::DeferredWork deferred(pool);
    history.save(slot, deferred);
}

void restore(const SparseHistory& history, std::int64_t slot, ThreadPool* pool = nullptr) {
    backend::DeferredWork deferred(pool);
    history.restore(slot, deferred);
}

}  // namespace

TEST_CASE("sparse history: every array with few lines that are not zero comes back") {
    ThreadPool threads(3);
    for (const std::int64_t elements : {1, 7, 16, 17, 100, 1025, 5000, 50000})
        for (const int components : {1, 3}) {
            ThreadPool* const pool = elements < 1025 ? nullptr : &threads;
            const Array array(Type::f32, {elements, components});
            const auto lines = static_cast<std::int64_t>((array.bytes() + 63) / 64);
            SparseHistory history(array);
            CHECK(history.slot_bytes() <= array.bytes() / 4 + 64 + 64 + elements / 8 + 64);
            history.allocate(3);
            CHECK(history.bytes() >= 3 * history.slot_bytes());
            for (int slot = 0; slot < 3; ++slot) CHECK(!history.holds(slot));
            // Slot 0: nothing but zeros; 1: the last number; 2: as many lines as fit.
            std::vector<std::vector<unsigned char>> contents;
            for (int slot = 0; slot < 3; ++slot) {
                array.clear();
                if (slot == 1) array.set_value(elements - 1, components - 1, -0.0);
                auto* const numbers = static_cast<float*>(array.data());
                if (slot == 2)
                    for (std::int64_t k = 0; k < (lines + 3) / 4; ++k)
                        numbers[(lines - 1 - 3 * k) % lines * 16] = 1.0F + static_cast<float>(k);
                array.touch();
                contents.push_back(bytes_of(array));
                // Whatever is taken for occupied: only how the work is cut depends on it.
                array.occupied() = {elements / 3 * slot, elements / 2 * slot};
                save(history, slot, slot == 1 ? nullptr : pool);
                CHECK(history.holds(slot));
            }
            for (const int slot : {1, 0, 2}) {
                array.fill(7);
                const std::uint64_t version = array.version();
                restore(history, slot, slot == 0 ? nullptr : pool);
                CHECK(bytes_of(array) == contents[static_cast<std::size_t>(slot)]);
                CHECK(array.version() != version);
            }
            history.forget();
            for (int slot = 0; slot < 3; ++slot) CHECK(!history.holds(slot));
        }
}

TEST_CASE("sparse history: what comes back says where it is occupied") {
    const Array array(Type::f32, {4096, 4});  // 16 bytes an element, 64 elements a block
    SparseHistory history(array);
    history.allocate(2);
    array.set_value(700, 2, 1);
    array.set_value(1500, 0, -1);
    save(history, 0);
    array.clear();
    save(history, 1);
    array.occupied() = {4000, 4096};
    restore(history, 0);
    CHECK(array.occupied().begin == 640);
    CHECK(array.occupied().end == 1536);
    restore(history, 1);  // nothing is: what was known stays
    CHECK(array.occupied().begin == 640);
}

TEST_CASE("sparse history: only what may not be zero is looked at and made zero") {
    const Array array(Type::f32, {4096, 4});  // 64 blocks
    auto* const numbers = static_cast<float*>(array.data());
    SparseHistory history(array);
    history.allocate(2);
    array.set_value(700, 2, 1);
    array.know({600, 800});
    numbers[4 * 3000] = 5;  // which is not said
    save(history, 0);
    array.know({2900, 3100});
    restore(history, 0);
    CHECK(array.value(700, 2) == 1);
    CHECK(array.value(3000) == 0);
    CHECK(array.contents().is_idle());
    CHECK(array.contents().busy.begin == 640);
    CHECK(array.contents().busy.end == 704);
    // So are the columns in which it is.
    array.know({640, 704, {16, 2, 14}});
    save(history, 1);
    restore(history, 0);
    CHECK(array.contents().busy.columns.period == 0);
    restore(history, 1);
    CHECK(array.contents().busy.columns.period == 16);
    CHECK(array.contents().busy.columns.begin == 2);
    CHECK(array.contents().busy.columns.end == 14);
    // Slots are used again.
    array.clear();
    array.set_value(10, 0, 3);
    array.know({0, 20});
    save(history, 0);
    array.fill(9);
    restore(history, 0);
    for (const std::int64_t element : {0, 10, 700, 3000, 4095})
        CHECK(array.value(element) == (element == 10 ? 3 : 0));
}

TEST_CASE("sparse history: what takes more than a quarter of the lines is not kept") {
    const Array array(Type::f64, {8 * 200});  // 200 lines
    SparseHistory history(array);
    history.allocate(1);
    const auto save_with = [&](std::int64_t lines) {
        array.clear();
        for (std::int64_t k = 0; k < lines; ++k) array.set_value(8 * k + k % 8, 0, 1e-300);
        save(history, 0);
        return history.holds(0);
    };
    CHECK(save_with(50));
    CHECK(!save_with(51));
    CHECK(!save_with(200));
    CHECK(save_with(1));
    history.release();
    CHECK(history.bytes() == 0);
    const Array nothing(Type::f64, {0, 3});
    SparseHistory of_nothing(nothing);
    of_nothing.allocate(1);
    save(of_nothing, 0);
    REQUIRE(of_nothing.holds(0));
    restore(of_nothing, 0);
}
