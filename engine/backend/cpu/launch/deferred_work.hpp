// Loops over the elements of arrays that wait until they can run together.
//
// Between two launches over points there are many short loops over the same grid: sums become
// numbers, nonzero lines go into a history, a launch turns momentum into velocities. Each of them
// alone costs a handover between threads, and fetches again what the one before left in another
// core's cache. Loops that touch only their own elements can run one behind the other over one part
// of the elements at a time, cut once for all.
//
//     DeferredWork deferred(pool);
//     deferred.add({.count = n, .range = {0, n}, .work = 2.0 * n}, body);    // body(begin, end)
//     deferred.run();                                                        // or the destructor
//
// A loop states what it writes, and what it reads at other elements than its own. add() first runs
// the loops that wait if the new one does not go together with them. All other code that reads or
// writes the memory of such an array runs them before. Bodies do not throw. Deferral changes no
// bit.
//
// The first loop may read arrays at elements near its own, as springs do between neighbors. Later
// loops that write such an array stay so far behind it (`reach`) that it never reads what they have
// written. At a border between two tasks the task that gets there last does their work.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/backend/array_facts.hpp"

namespace hindcast {
class ThreadPool;
}

namespace hindcast::backend {

using ArrayList = std::span<const ArrayFacts* const>;

struct DeferredLoop {
    std::int64_t count = 0;  // elements of each of its arrays
    ActiveRange range;       // to go over; its start is rounded down to a whole block, and
                             // what its columns leave out to whole vectors
    ActiveRange occupied;    // how it is best cut (array_facts.hpp)
    double work = 0;         // operations
    ArrayList written, read_elsewhere;
    // Read at elements e - reach ... e + reach by element e; only the first loop has such.
    ArrayList read_near = {};
    std::int64_t reach = 0;
};

// A number that none has had before.
std::uint64_t next_number();

// The arrays of a loop, in memory that is kept from launch to launch.
struct LoopArrays {
    std::vector<const ArrayFacts*> written, read_elsewhere, read_near;

    void clear() {
        written.clear();
        read_elsewhere.clear();
        read_near.clear();
    }
};

// The arrays of the loops that wait, up to so many; none is allocated for.
class DeferredArrays {
public:
    bool has_room(const DeferredLoop& loop) const;
    void add(const DeferredLoop& loop);
    void clear() { written_.size = elsewhere_.size = near_.size = 0; }
    // True if the loop cannot follow, wherever its elements are.
    bool conflict(const DeferredLoop& loop) const;
    // True if the loop writes what is read near its elements.
    bool has_to_lag(const DeferredLoop& loop) const;
    bool reads_elsewhere(const ArrayFacts& array) const;

private:
    struct Some {
        std::array<const ArrayFacts*, 32> list;
        std::size_t size = 0;

        ArrayList all() const { return {list.data(), size}; }
        bool has_room(ArrayList more) const { return size + more.size() <= list.size(); }
        void add(ArrayList more) {
            for (const ArrayFacts* array : more) list[size++] = array;
        }
    };
    Some written_, elsewhere_, near_;
};

class DeferredWork {
public:
    // Parts begin at multiples of so many elements.
    static constexpr std::int64_t block = 64;
    using Loop = DeferredLoop;

    explicit DeferredWork(ThreadPool* pool = nullptr);
    ~DeferredWork() { run(); }
    DeferredWork(const DeferredWork&) = delete;
    DeferredWork& operator=(const DeferredWork&) = delete;

    // A small callable without a destructor; what it refers to must stay until run(). At once if
    // it names more arrays than can be remembered.
    template <class Body>
    void add(const Loop& loop, const Body& body) {
        static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= closure_bytes &&
                      alignof(Body) <= 8);
        Entry entry;
        std::memcpy(entry.closure, &body, sizeof(Body));
        entry.body = [](const void* closure, std::int64_t begin, std::int64_t end) {
            (*static_cast<const Body*>(closure))(begin, end);
        };
        put(loop, entry);
    }
    // body(pool), on the calling thread, once all loops that wait have run: work that needs all
    // that one of them has written. It belongs to that loop, the last one added.
    template <class Body>
    void then(const Body& body) {
        static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= closure_bytes &&
                      alignof(Body) <= 8);
        if (empty()) return body(pool_);
        std::memcpy(then_closure_, &body, sizeof(Body));
        then_ = [](const void* closure, ThreadPool* pool) {
            (*static_cast<const Body*>(closure))(pool);
        };
    }
    void run();
    // Runs the loops that wait if this one may not follow them.
    void make_way(const Loop& loop) {
        if (!may_follow(loop)) run();
    }
    bool empty() const { return size_ == 0; }
    // Another one after each run(), and never one that others have had.
    std::uint64_t number() const { return number_; }
    // True if a loop that waits reads an array at other elements than its own.
    bool reads_elsewhere(const ArrayFacts& array) const { return arrays_.reads_elsewhere(array); }

private:
    static constexpr std::size_t closure_bytes = 24, most = 8;

    struct alignas(64) Entry {  // one cache line
        ActiveRange range;
        void (*body)(const void* closure, std::int64_t begin, std::int64_t end);
        alignas(8) std::byte closure[closure_bytes];
    };
    static_assert(sizeof(Entry) == 64);

    // Whole blocks.
    static std::int64_t lag_of(std::int64_t reach) { return (reach + block - 1) / block * block; }
    // The ranges around a task's borders must not be longer than the task.
    static std::int64_t least_task(std::int64_t lag) { return 2 * lag + block; }
    bool may_follow(const Loop& loop) const;
    bool may_lag() const;
    void put(const Loop& loop, const Entry& entry);
    void run_entries(std::size_t from, std::size_t to, std::int64_t begin, std::int64_t end) const;
    void walk(std::int64_t begin, std::int64_t end, bool first, bool last) const;
    void run_lagging(ThreadPool* pool);

    std::array<Entry, most> entries_;
    std::size_t size_ = 0;
    std::size_t prompt_ = 0;  // entries from this one on lag behind
    std::int64_t lag_ = 0;    // so many elements
    std::int64_t reach_ = 0;
    ThreadPool* pool_;
    std::uint64_t number_;
    // Per border: how many of the tasks on its two sides are done.
    std::unique_ptr<std::atomic<std::uint8_t>[]> borders_;
    std::int64_t border_count_ = 0;
    void (*then_)(const void* closure, ThreadPool* pool) = nullptr;
    alignas(8) std::byte then_closure_[closure_bytes];
    std::int64_t count_ = 0;  // of the loops that wait
    ActiveRange range_, occupied_;
    double work_ = 0;
    DeferredArrays arrays_;
};

}  // namespace hindcast::backend
