// Arrays on a device: shape, strides, a version counter, and the arrays of its derivatives on
// demand.
//
// An Array is a handle: copies share the memory. The first extent counts elements, the others are
// the components of one element (row by row). Memory is C-contiguous (components side by side) or
// planar (one plane per component, each padded to whole SIMD registers); kernels read both. Every
// write changes the version, by which launches and tapes know that what an adjoint needs has been
// overwritten; versions of different arrays never coincide, so that memory that was freed and given
// to another array is not mistaken for the old one. Call touch() after writing through data().
//
// Values are rounded once to the type. A value that an integer type cannot hold is an error, and
// then nothing is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/type.hpp"

namespace hindcast {

class Memory;
class StateHash;
class ThreadPool;
namespace backend {
class DeferredWork;
struct Binding;
struct ArrayFacts;
struct ActiveRange;
namespace cuda {
class Context;
struct Exported;
}  // namespace cuda
}  // namespace backend

// `strided`: memory from elsewhere that is neither.
enum class Layout : std::uint8_t { contiguous, planar, strided };

// Memory that something else owns, of the host or of a CUDA device. Strides are in scalars and may
// be negative or 0.
struct ForeignMemory {
    void* first = nullptr;  // component 0 of element 0
    std::int64_t element_stride = 0, component_stride = 1;
    bool read_only = false;
};

class Array {
public:
    Array() = default;  // no memory: every use but operator bool throws Error
    // Zeroed. Throws Error for a negative extent, more than 4096 components, or too little memory.
    Array(ir::Type type, std::vector<std::int64_t> shape, Layout layout = Layout::contiguous);
    static Array from(std::span<const double> values, ir::Type type,
                      std::vector<std::int64_t> shape, Layout layout = Layout::contiguous);
    // Over memory of the host that something else owns and `alive` keeps, C-contiguous, as it is.
    // Throws Error if it is smaller than the array, or not aligned to the type.
    static Array over(std::span<std::byte> host, std::shared_ptr<void> alive, ir::Type type,
                      std::vector<std::int64_t> shape);
    // The same with any strides: an array that is shared (see share()). The array is read only if
    // its elements overlap. Throws Error if it is not aligned to the type.
    static Array over_strided(const ForeignMemory& host, std::shared_ptr<void> alive, ir::Type type,
                              std::vector<std::int64_t> shape);
    // The same over memory of a CUDA device, where it stays: launches there work with it as it is,
    // the host with copies. Other users of the memory order their work by streams (Stream).
    static Array over_device(const std::shared_ptr<backend::cuda::Context>& context,
                             const ForeignMemory& memory, std::shared_ptr<void> alive,
                             ir::Type type, std::vector<std::int64_t> shape);
    // Zeroed, in memory of its own on a CUDA device, where others may share it; nullptr: the host.
    // Its derivatives lie there, too.
    static Array on(const std::shared_ptr<backend::cuda::Context>& context, ir::Type type,
                    std::vector<std::int64_t> shape, Layout layout = Layout::contiguous);
    // Over memory of a CUDA device that Vulkan exported, C-contiguous, as it is. Throws Error where
    // the driver cannot take it.
    static Array over(const std::shared_ptr<backend::cuda::Context>& context,
                      const backend::cuda::Exported& shared, ir::Type type,
                      std::vector<std::int64_t> shape);

    explicit operator bool() const { return storage_ != nullptr; }
    ir::Type type() const;
    const std::vector<std::int64_t>& shape() const;
    Layout layout() const;
    std::int64_t elements() const;  // first extent
    int components() const;         // product of the others
    std::int64_t size() const { return elements() * components(); }
    std::int64_t element_stride() const;  // in scalars
    std::int64_t component_stride() const;
    // Element 0 on the host: waits for a device with newer values. A copy if the memory's home is a
    // device.
    void* data() const;
    // Element 0 on the CUDA device where the memory lies. Throws Error where that is the host.
    void* device_data() const;
    int device() const;         // that device's number; -1: the host
    std::size_t bytes() const;  // of the memory, padding included

    std::uint64_t version() const;
    void touch() const;  // the host wrote: a new version
    // From now on others may read and write the memory of the host at any time, so launches assume
    // nothing about its contents. Call touch() after changing an array that serves as an index.
    void share() const;
    bool is_shared() const;
    bool is_read_only() const;  // writing to it throws Error

    // Same type, shape and layout, zeroed when first asked for. Gradients of f64 scalars are f64.
    Array gradient() const;
    Array tangent() const;
    Array second_tangent() const;  // along a second direction
    bool has_gradient() const;
    // True if both are one array or, over memory from elsewhere, have a scalar in common.
    bool same_memory(const Array& other) const {
        return storage_ == other.storage_ || (storage_ && other.storage_ && overlaps(other));
    }

    // Values in logical C order, whatever the layout; the number of values must agree with size().
    std::vector<double> to_doubles() const;
    // Some of them, by their places in that order.
    std::vector<double> values_at(std::span<const std::size_t> places) const;
    void assign(std::span<const double> values) const;
    void assign_integers(std::span<const std::int64_t> values) const;  // u64: the same 64 bits
    void fill(double value) const;
    void clear(ThreadPool* pool = nullptr) const;  // all bytes zero
    void copy_from(const Array& other) const;      // same type, shape and layout
    Array clone() const;                           // a copy of the values, without derivatives
    double value(std::int64_t element, int component = 0) const;
    void store(std::int32_t value) const;  // in an array of one i32; no device is waited for
    void set_value(std::int64_t element, int component, double value) const;

    void add_to(StateHash& hash, const std::string& name) const;

    // ---- for code that runs launches; the types are internal, and not installed ----
    Memory& memory() const;
    void wrote_on_device() const;  // a launch there did
    void changed() const;          // a new version, by means that see to the memory themselves
    const std::uint64_t* version_counter() const;
    void clear(backend::DeferredWork& deferred) const;  // when those run
    backend::ActiveRange& occupied() const;
    const backend::ArrayFacts& contents() const;
    // Records facts that the last writer knows about the values; they hold until the next write.
    // Nothing is recorded for memory that something else owns and may write.
    void know(const backend::ActiveRange& busy, std::uint64_t by = 0) const;
    backend::Binding binding() const;
    backend::Binding shape_binding() const;  // without data

private:
    struct Storage;
    static std::shared_ptr<Storage> describe(ir::Type type, std::vector<std::int64_t> shape,
                                             Layout layout);
    struct Bytes {
        std::byte* begin = nullptr;
        std::int64_t count = 0;
        std::ptrdiff_t first = 0;  // of these, at which element 0 begins
    };
    static Array described(const ForeignMemory& memory, ir::Type type,
                           std::vector<std::int64_t> shape, Bytes& bytes);
    Storage& storage() const;
    Array alike() const;
    void copy_scalars(const Array& other) const;
    bool overlaps(const Array& other) const;
    std::shared_ptr<Storage> storage_;
};

}  // namespace hindcast
