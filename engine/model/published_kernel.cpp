#include "engine/model/published_kernel.hpp"

#include <algorithm>
#include <string_view>

#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/model/model.hpp"

namespace hindcast::model {

namespace {

std::string type_text(const ir::Parameter& p) {
    std::string scalar = name_of(p.type);
    if (p.type == ir::Type::f64) scalar = "real";
    if (p.components == 1) return scalar;
    const std::string prefix = p.type == ir::Type::f64   ? ""
                               : p.type == ir::Type::i32 ? "i"
                                                         : scalar;
    if (p.rows > 1) return prefix + "mat" + std::to_string(p.rows);
    return prefix + "vec" + std::to_string(p.components);
}

std::string access_text(const lang::KernelDef& kernel, int k) {
    if (kernel.may_share(k)) return "Property";
    switch (kernel.parameters()[static_cast<std::size_t>(k)].access) {
        case ir::Access::read: return "Read";
        case ir::Access::write: return "Write";
        case ir::Access::read_write: return "ReadWrite";
        case ir::Access::accumulate: return "Accumulate";
        case ir::Access::sum: return "Sum";
        case ir::Access::slice: return "WriteSlice";
        case ir::Access::reduce: return "Reduce";
        case ir::Access::atomic: return "Atomic";
        case ir::Access::value: return "Param";
        case ir::Access::exclusive: break;
    }
    return "?";
}

}  // namespace

lang::KernelDef make_kernel(const PublishedKernel& kernel, const document::Node& options) {
    document::object_of(options);
    std::vector<std::string_view> known;
    for (const Field& f : kernel.options) known.push_back(f.key);
    for (std::size_t k = 0; k < options.size(); ++k)
        if (std::ranges::find(known, options.key(k)) == known.end())
            throw Error("the kernel '" + kernel.name + "' has no option '" + options.key(k) + "'")
                .remedy(known.empty() ? "it has none"
                                      : document::suggestion(options.key(k), known, "there are"));
    for (const Field& f : kernel.options)
        if (f.fallback_json.empty() && options.find(f.key) == nullptr)
            throw Error("the kernel '" + kernel.name + "' needs the option '" + f.key + "'")
                .remedy(f.documentation);
    ModuleType type;
    type.type = "kernel";
    type.fields = kernel.options;
    return kernel.make(Settings(type, options, kernel.name)).without_unused();
}

std::string signature(const lang::KernelDef& kernel) {
    std::string text = kernel.name() + "(";
    for (std::size_t k = 0; k < kernel.parameters().size(); ++k) {
        const ir::Parameter& p = kernel.parameters()[k];
        text += (k > 0 ? ", " : "") + p.name + ": " + access_text(kernel, static_cast<int>(k)) +
                "[" + type_text(p) + "]";
    }
    return text + ")";
}

Field dimension_option() {
    return integer("dimension").fallback("3").at_least(2).at_most(3).doc("of the vectors");
}

Field adds_option() {
    return choice("adds", {"to_what_is_there", "to_zero"})
        .fallback("\"to_what_is_there\"")
        .doc("to_zero: the array is cleared before, as by the first force of a step");
}

}  // namespace hindcast::model
