#include "engine/runtime/program/program.hpp"

namespace hindcast {

namespace {

template <class T>
lang::KernelDef copy_kernel(const char* name) {
    return lang::kernel(
        name, {"from", "to"},
        [](lang::Int i, lang::Read<T> from, lang::Write<T> to) { to[i] = from[i]; });
}

// The kernel that copies elements of so many reals.
const lang::KernelDef& copy_of(int components) {
    using lang::Float;
    static const lang::KernelDef kernels[] = {
        copy_kernel<Float>("copy_1"), copy_kernel<lang::Vec<Float, 2>>("copy_2"),
        copy_kernel<lang::Vec<Float, 3>>("copy_3"), copy_kernel<lang::Vec<Float, 4>>("copy_4"),
        // Motions and inertias of rigid bodies have 6 and 10.
        copy_kernel<lang::Vec<Float, 6>>("copy_6"), copy_kernel<lang::Mat<Float, 3, 3>>("copy_9"),
        copy_kernel<lang::Vec<Float, 10>>("copy_10")};
    for (const lang::KernelDef& kernel : kernels)
        if (kernel.parameters().front().components == components) return kernel;
    throw Error("there is no copy for elements of " + std::to_string(components) + " components")
        .remedy("elements may have 1 to 4, 6, 9 or 10");
}

}  // namespace

void Program::add_copy(const std::shared_ptr<Device>& device, const Array& to, const Array& from) {
    if (to.type() != from.type() || to.elements() != from.elements() ||
        to.components() != from.components())
        throw Error("a copy between arrays of different types or shapes");
    if (!ir::is_real(from.type()))
        throw Error("a program copies real arrays only")
            .remedy("copy integers with a launch of a kernel of your own");
    const ir::Precision precision =
        from.type() == ir::Type::f32 ? ir::Precision::f32 : ir::Precision::f64;
    add(Launch(device, copy_of(from.components()), precision, from.elements(), {from, to}));
}

void Program::repeat(int times, const Program& program) {
    if (times < 0) throw Error("a program cannot be repeated " + std::to_string(times) + " times");
    nodes_.push_back({program.launches(), times});
}

void Program::append(const Program& program) {
    const std::vector<Node> nodes = program.nodes_;  // may be our own
    nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
}

std::vector<Launch> Program::launches() const {
    std::vector<Launch> all;
    for (const Node& node : nodes_)
        for (int t = 0; t < node.times; ++t)
            all.insert(all.end(), node.launches.begin(), node.launches.end());
    return all;
}

std::vector<Need> primal_needs(const Launch::Replay& backward) {
    std::vector<Need> needs;
    const ir::Kernel& kernel = backward.kernel();
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        const ir::Parameter& parameter = kernel.parameters[p];
        const bool reads =
            parameter.access == ir::Access::read || parameter.access == ir::Access::value;
        if (reads && backward.arrays()[p] && !backward.is_gradient(static_cast<int>(p)))
            needs.push_back({static_cast<int>(p), backward.arrays()[p], parameter.holds_result});
    }
    return needs;
}

std::vector<Array> primal_writes(const Launch::Replay& forward) {
    std::vector<Array> written;
    const ir::Kernel& kernel = forward.kernel();
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        const ir::Access access = kernel.parameters[p].access;
        if (access != ir::Access::read && access != ir::Access::value && forward.arrays()[p])
            written.push_back(forward.arrays()[p]);
    }
    return written;
}

}  // namespace hindcast
