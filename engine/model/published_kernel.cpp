#include "engine/model/published_kernel.hpp"

#include <algorithm>
#include <string_view>

#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/model/model.hpp"

namespace hindcast::model {

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
    const Settings settings(type, options, kernel.name);
    lang::KernelDef made = kernel.make(settings);
    if (std::ranges::find(known, "adds") != known.end() && settings.choice("adds") == "to_zero")
        for (const ir::Parameter& p : std::vector(made.parameters()))
            if (p.access == ir::Access::accumulate) made = made.with_sum(p.name);
    return made.without_unused();
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
