// The parts of a Launch and its replays: internal to the engine.
#pragma once

#include <map>

#include "engine/backend/array_facts.hpp"
#include "engine/backend/executable.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/launch/given_kernels.hpp"
#include "engine/runtime/launch/host_function.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

struct Launch::State {
    std::shared_ptr<Device> device;
    std::shared_ptr<const backend::cuda::Stream> stream;  // of a CUDA device; nullptr: its own
    ir::Kernel kernel;
    std::shared_ptr<HostFunction> function;       // whose signature the kernel is; or nullptr
    std::shared_ptr<const GivenKernels> kernels;  // of all directions; or nullptr
    std::string description;
    std::int64_t items = 0;
    std::vector<char> property;  // per parameter: declared Property
    std::vector<Argument> arguments;
    // Numbers passed by value live in small arrays, so that they have gradients and tangents like
    // everything else.
    std::vector<Array> arrays;
    // While it is, arguments_text() can be asked: also by executables, which go first.
    std::shared_ptr<const bool> alive = std::make_shared<const bool>(true);
    std::uint64_t bindings_version = 1;
    std::vector<std::uint64_t>
        left;  // per ReadWrite parameter: the version that the last forward run left
    std::vector<std::string> active;  // empty: every real parameter
    bool is_made = false;             // with all its arguments
    bool has_derivative = true, checks_indices = false;
    std::vector<Replay> parts;  // of a joined launch
    std::vector<std::pair<std::size_t, int>> origins;
    std::map<Direction, ir::Kernel> derived;
    // The origin of a derived kernel's parameter: "x.a1.t1" comes from x, as the tangent of its
    // adjoint: kinds "at". "u" is a tangent along a second direction.
    struct Origin {
        int parameter = 0;
        std::string kinds;
    };
    mutable std::map<std::string, Origin> derivatives;  // by name, once one is asked for
    std::map<Direction, std::shared_ptr<backend::Executable>> executables;
    std::map<Direction, std::weak_ptr<Replay::Bound>> replays;

    Error error(const std::string& what) const { return Error(what).in_kernel(description); }
    std::string arguments_text() const;  // "rate = 0.1; x: f64 [40, 2]"
    bool has_no_text() const;
    std::shared_ptr<backend::Executable> compile_for(const std::shared_ptr<Device>& where,
                                                     Direction direction, const ir::Kernel& of);
    int index_of(std::string_view name) const;

    void set(int index, const Argument& argument);
    void check(const ir::Parameter& p, bool is_property, const Argument& argument) const;
    void check_lengths(const ir::Kernel& of, const std::vector<Array>& bound) const;
    void write_numbers(const ir::Parameter& p, const Array& array,
                       std::span<const double> numbers) const;
    void bind(std::size_t slot, const Array& array, const Argument& argument);
    void check_aliasing() const;
    void rebind();

    const ir::Kernel& kernel_of(Direction direction);
    ir::Kernel derive(Direction direction) const;
    ir::Kernel with_own_sums(const ir::Kernel& k) const;
    Origin origin_of(const std::string& name) const;  // of a parameter of any direction's kernel
    Array array_for(const std::string& name) const;
};

struct Launch::Replay::Bound {
    Launch launch;
    Direction direction;
    ir::Kernel kernel;
    std::shared_ptr<backend::Executable> executable;
    backend::RunOptions options;
    Memory::Context cuda;  // of the device, if it is one
    std::shared_ptr<const backend::cuda::Stream> stream;
    std::int64_t items = 0;
    std::vector<backend::Binding> bindings;
    std::vector<backend::Binding> host;                 // see RunOptions::host
    std::vector<int> read_on_host;                      // the parameters that it is of use for
    std::vector<std::vector<std::byte>> given_on_host;  // of these, copies of given memory
    std::vector<std::uint64_t> versions_on_host;        // of what lives on the device
    bool knows_read_on_host = false;
    std::vector<Array> arrays;
    std::vector<void*> given;  // by bind_memory()
    std::vector<std::pair<backend::Binding*, const std::uint64_t*>>
        versions;                // index arrays, read afresh per run
    std::vector<Array> written;  // their versions change
    std::vector<Array> cleared;  // after the run: adjoints of sums, and sums without a term
    struct Alias {               // a second accumulation into one array goes through its own memory
        Array target, own;
    };
    std::vector<Alias> aliases;
    std::vector<backend::FactUpdate> learned;  // by the last run
    std::vector<std::size_t> updated;          // forward: ReadWrite parameters of the launch
    std::vector<std::pair<int, int>>
        old_values;  // adjoint: parameters that read such an array, and which

    Bound(Launch of, Direction d) : launch(std::move(of)), direction(d) {}
    static void check_indices(const Launch& launch);  // check_indices.hpp
    void bind();
    // True if it works in the memory of the host, wherever the launches around it work.
    bool is_on_host() const { return !cuda || kernel.is_host_function; }
    // Replay::run(). `copies` are made before it changes anything. Work that only goes over
    // elements may be left to `deferred` (may be nullptr). On a CUDA device both must be empty.
    void run(std::span<const backend::Copy> copies, backend::DeferredWork* deferred);
    // For work done by other means: what to say once the kernel ran on the host, or in a graph on
    // the device, and every array that it works with.
    void ran() const;
    void ran_on_device() const;
    void each_array(const std::function<void(const Array&)>& visit) const;
    bool adds_aliases() const { return !aliases.empty(); }

    void choose_device();
    void check_aliasing() const;
    void check_old_values() const;
    void find_memory();
    void find_memory_on_device();
    void find_memory_for_function();  // of the host, where other launches work on the device
    void add_aliases() const;
    void finish(bool on_host) const;
    void spoil() const;
};

}  // namespace hindcast
