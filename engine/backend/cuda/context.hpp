// Context: a CUDA device at work: its memory, its streams, the functions loaded into it.
//
// Work is put on streams and runs later. Host operations on memory (upload, download, clear, copy)
// go to the context's own stream and come after everything that was put on any stream before, and
// before everything that is put on any stream afterward; only launches on streams of one's own run
// side by side, and are ordered by events. An error of the driver names the request that failed.
// Errors of launches show when the host waits: download() and synchronize().
//
// Threads may share a context: each of its functions, and each launch of a kernel, is done before
// another thread's begins, and one thread notes a graph. The thread that waits first gets a fault.
// Everything that was made by a context keeps it alive.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/backend/cuda/code.hpp"
#include "engine/backend/cuda/driver.hpp"
#include "engine/backend/cuda/faults.hpp"

namespace hindcast::backend {
struct Binding;
}  // namespace hindcast::backend

namespace hindcast::backend::cuda {

class Context;

// A stream of a context, destroyed with its last holder.
class Stream {
public:
    explicit Stream(std::shared_ptr<Context> context);
    // One that someone else has made, and `alive` keeps: a stream of that device, or 1 (the legacy
    // default stream) or 2 (that of each thread). It is touched only while work is put there.
    Stream(std::shared_ptr<Context> context, StreamHandle theirs, std::shared_ptr<void> alive);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    StreamHandle handle() const { return handle_; }
    const std::shared_ptr<Context>& context() const { return context_; }

    bool is_own() const { return is_own_; }

private:
    std::shared_ptr<Context> context_;
    StreamHandle handle_ = nullptr;
    bool is_own_ = true;
    std::shared_ptr<void> alive_;
    friend class Context;
    EventHandle done_ = nullptr;  // of someone else's: behind what was put there last
    mutable bool is_used_ = false;
};

// A point in the work of a stream.
class Event {
public:
    Event(std::shared_ptr<Context> context, StreamHandle stream);  // recorded there
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    bool done() const;
    void hold_back(StreamHandle stream) const;  // work put there from now on runs after the event

private:
    std::shared_ptr<Context> context_;
    EventHandle handle_ = nullptr;
};

// Memory of a device that Vulkan exported: an opaque file descriptor, which stays its owner's, and
// a part of what lies behind it.
struct Exported {
    int descriptor = -1;
    std::size_t bytes = 0;   // of the whole memory
    std::size_t offset = 0;  // of the part
};

// A part of the device's memory; what it holds at first is undefined.
class Block {
public:
    Block() = default;
    Block(std::shared_ptr<Context> context, std::size_t bytes);
    // Memory that Vulkan has too. Throws Error where it cannot be had.
    Block(std::shared_ptr<Context> context, const Exported& from, std::size_t bytes);
    // Memory that something else owns, and frees.
    Block(std::shared_ptr<Context> context, Address theirs, std::size_t bytes);
    ~Block();
    Block(Block&& other) noexcept { *this = std::move(other); }
    Block& operator=(Block&& other) noexcept;
    Address address() const { return address_; }
    void* data() const { return std::bit_cast<void*>(address_); }  // of the device
    std::size_t size() const { return size_; }

private:
    std::shared_ptr<Context> context_;
    Address address_ = 0;
    std::size_t size_ = 0;
    ExternalMemory external_ = nullptr;  // the memory it is a part of
    bool is_own_ = true;
};

// A timeline semaphore that Vulkan exported as an opaque file descriptor, which stays its owner's.
class Semaphore {
public:
    // Throws Error where it cannot be had.
    Semaphore(std::shared_ptr<Context> context, int descriptor);
    ~Semaphore();  // waits for the device
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;
    // When everything is done that was put on any stream so far. `value`: greater than ever before.
    void raise(std::uint64_t value);

private:
    std::shared_ptr<Context> context_;
    ExternalSemaphore handle_ = nullptr;
};

// A captured sequence of work that one call puts on the context's stream again.
class Graph {
public:
    Graph() = default;
    ~Graph();
    Graph(Graph&& other) noexcept { *this = std::move(other); }
    Graph& operator=(Graph&& other) noexcept;
    explicit operator bool() const { return handle_ != nullptr; }
    std::size_t nodes() const { return nodes_; }

private:
    friend class Context;
    std::shared_ptr<Context> context_;
    GraphExecHandle handle_ = nullptr;
    std::size_t nodes_ = 0;
    std::vector<int> watches_;  // see FaultWatches
    std::shared_ptr<const std::vector<Work>> work_;
    std::vector<std::shared_ptr<const void>> kept_;
};

// Arguments: the arguments that a launch hands to a function, by address.
class Arguments {
public:
    template <class... T>
    explicit Arguments(const T&... values)
        : list_{const_cast<void*>(static_cast<const void*>(&values))...} {}
    void** list() { return list_; }

private:
    void* list_[16];
};
// Items and elements are counted by an int there. Throws Error.
int item_count(std::int64_t count);

class Context : public std::enable_shared_from_this<Context> {
public:
    // Throws Error: no driver, no NVRTC, no such device, or no memory.
    static std::shared_ptr<Context> open(int ordinal);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Calls of several threads run one after the other; hold this lock around several calls that
    // belong together. Code that holds it must call nothing that may wait for another thread.
    // If another library's context was current on the thread, it is again afterward.
    class Lock {
    public:
        Lock() = default;
        explicit Lock(const Context& context);
        Lock(const Context& context, std::adopt_lock_t how) : held_(context.mutex_, how) {}
        ~Lock();
        Lock(Lock&& other) noexcept { *this = std::move(other); }
        Lock& operator=(Lock&& other) noexcept {
            std::swap(held_, other.held_);
            std::swap(theirs_, other.theirs_);
            return *this;
        }
        void keep() { held_.release(); }  // until it is adopted

    private:
        std::unique_lock<std::recursive_mutex> held_;
        ContextHandle theirs_ = nullptr;
    };
    Lock lock() const { return Lock(*this); }

    int ordinal() const { return ordinal_; }
    const DeviceInfo& info() const {
        return cuda_info().devices[static_cast<std::size_t>(ordinal_)];
    }
    StreamHandle stream() const { return stream_; }  // the context's own

    // --- memory ---
    std::int64_t free_memory() const;  // bytes
    // `from` may change after the call.
    void upload(Address to, const void* from, std::size_t bytes);
    // Waits. Throws what launches have failed with.
    void download(void* to, Address from, std::size_t bytes);
    void copy(Address to, Address from, std::size_t bytes);
    void clear(Address to, std::size_t bytes);
    void fill(Address to, std::uint32_t value, std::size_t count);
    // All components of all elements; scalars of 4 or 8 bytes.
    void fill(const Binding& to, int components, std::size_t scalar_bytes, std::uint64_t bits);
    // The same as a launch.
    void put_fill(const Binding& to, int components, std::size_t scalar_bytes, std::uint64_t bits,
                  StreamHandle stream, const std::shared_ptr<const LaunchWords>& words = {});
    // Sets `flag` to 1 if a scalar is not finite; else leaves it alone. f32 or f64 by their size.
    void find_not_finite(Address values, std::size_t scalar_bytes, std::size_t count, Address flag);
    // to += from, f32 or f64 by their size.
    void add(Address to, Address from, std::size_t scalar_bytes, std::size_t count);
    // f32 as f64, and f64 as f32 (rounded to nearest).
    void widen(Address to, Address from, std::size_t count) { put_phase("widen", to, from, count); }
    void narrow(Address to, Address from, std::size_t count) {
        put_phase("narrow", to, from, count);
    }

    // The allocation that an address is in, as far as the driver knows it.
    struct Place {
        int ordinal = 0;  // of the device
        Address begin = 0;
        std::size_t bytes = 0;
    };
    std::optional<Place> place_of(Address address) const;

    // --- streams of others ---
    // wait_for(): work put on streams here from now on runs after theirs; let_wait(): the reverse.
    void wait_for(StreamHandle theirs);
    void let_wait(StreamHandle theirs);
    // The context's own, after all that was put on any stream here.
    StreamHandle ready_stream() {
        join_others();
        return stream_;
    }
    bool is_captured(StreamHandle theirs) const;  // by its owner
    // The stream of launches without a stream of their own: the one that is followed, if any.
    StreamHandle launch_stream() const {
        if (captured_ != nullptr) return captured_;
        return followed_ != nullptr ? followed_ : stream_;
    }
    // True if work that is put now goes into a graph of another library.
    bool follows_capture() const { return captured_ != nullptr; }
    // While it lives, work is put on a stream of another library, in order with the work of the
    // host. If the stream's owner captures it, the host's work goes there too: to compile,
    // allocate, copy from the host or wait meanwhile throws Error.
    class Following {
    public:
        Following(Context& context, const Stream* stream);
        ~Following();
        Following(const Following&) = delete;
        Following& operator=(const Following&) = delete;

    private:
        Lock lock_;
        Context& context_;
        const Stream* stream_ = nullptr;  // of another library, and not captured
        StreamHandle captured_before_, followed_before_;
    };

    // While it lives, launches on a stream that is captured may compile and allocate, and work of
    // the host is done at once, on the context's own stream: afterward the same launches can be
    // captured for good. The graph captured meanwhile is useless.
    class Rehearsal {
    public:
        explicit Rehearsal(Context& context) : lock_(context.lock()), context_(context) {
            context.rehearsing_ = true;
        }
        ~Rehearsal() { context_.rehearsing_ = false; }
        Rehearsal(const Rehearsal&) = delete;
        Rehearsal& operator=(const Rehearsal&) = delete;

    private:
        Lock lock_;
        Context& context_;
    };

    // --- work ---
    // `arguments`: their addresses, as the function takes them. `words` are for errors.
    void launch(const Function& function, std::int64_t items, void** arguments, StreamHandle stream,
                const std::shared_ptr<const LaunchWords>& words = {});
    // Waits for all streams. Throws the Error of the launch that failed first; where the driver
    // does not say which that was, the Error names what was put on streams since the last time.
    void synchronize();
    // The same without errors; the next wait gets those.
    void wait() const noexcept;
    // From now on until end_capture() work is noted instead of done. Nothing may be allocated or
    // waited for meanwhile; the work of one stream only.
    void begin_capture();
    // `graph` takes the new work where the driver can change it, else it is made afresh. Throws
    // Error if the work cannot be noted; the context can be used again either way.
    void end_capture(Graph& graph);
    bool capturing() const { return capturing_; }
    void drop_capture() noexcept;                  // if there is one
    std::int64_t noted() const { return noted_; }  // launches, copies and the like, so far
    void launch(const Graph& graph);
    // While work is noted: what it uses lives as long as the graph.
    void keep(std::shared_ptr<const void> used) {
        if (capturing_) kept_.push_back(std::move(used));
    }

    // Counts of the work put on streams so far, and the seconds that the host has waited for it.
    struct Calls {
        std::int64_t launches = 0, graphs = 0, nodes = 0;
        double waited_s = 0;
    };
    const Calls& calls() const { return calls_; }

    Code& code() { return code_; }
    FaultWatches& faults() { return faults_; }
    // Raises the faults of all launches so far; waits only where one may come.
    void settle() {
        if (faults_.unsettled()) synchronize();
    }
    // True if a launch may have noted a fault that no synchronize() has checked yet.
    bool is_unsettled() const { return faults_.unsettled(); }

private:
    friend class Stream;
    friend class Event;
    friend class Block;
    friend class Semaphore;
    friend class Graph;
    friend class Code;
    friend class FaultWatches;
    explicit Context(int ordinal);

    void check(int result, std::string_view asked) const;
    // Makes `made` of what is behind a copy of the descriptor, which is the driver's if it takes
    // it.
    template <typename Import, typename Made, typename Handle>
    void import_shared(Import import, Made* made, Handle handle, int descriptor,
                       const std::string& what) const;
    void release() const;
    const Driver& here() const;  // the driver, with this context current
    Address allocate(std::size_t bytes);
    void free(Address address) noexcept;
    // Around work of the host: after all that was put on other streams, before all that will be.
    void join_others();
    void hold_others();
    StreamHandle host_stream() const {
        return captured_ != nullptr && !rehearsing_ ? captured_ : stream_;
    }
    void refuse_while_captured() const;
    // Work of the host: a phase of two arrays over `count` items.
    void put_phase(const char* name, Address first, Address second, std::size_t count);
    void join(StreamHandle stream);
    void hold(StreamHandle stream);
    void forget(const Stream& stream) noexcept;
    void note_work(Work work);
    void note_measured();

    mutable std::recursive_mutex mutex_;
    int ordinal_;
    Device device_ = 0;
    ContextHandle handle_ = nullptr;
    StreamHandle stream_ = nullptr;
    EventHandle order_ = nullptr;  // for join_others() and hold_others()
    struct Measured {              // the work between two events
        EventHandle begin = nullptr, end = nullptr;
        std::function<void(double seconds)> note = {};  // none: nothing is being measured
    } measured_;
    std::vector<StreamHandle> others_;
    std::vector<const Stream*> theirs_;  // of other libraries
    bool capturing_ = false, rehearsing_ = false;
    StreamHandle captured_ = nullptr, followed_ = nullptr;  // see Following
    std::vector<std::shared_ptr<const void>> kept_;

    char* staging_ = nullptr;  // pinned memory of the host, for small downloads
    Code code_{*this};
    WorkLog log_;
    FaultWatches faults_{*this};
    std::int64_t noted_ = 0;
    Calls calls_;
};

}  // namespace hindcast::backend::cuda
