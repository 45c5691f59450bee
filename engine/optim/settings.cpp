// Reader, schema and description of "optimizer", all from one table of keys.
#include "engine/optim/settings.hpp"

#include <algorithm>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/document/read.hpp"
#include "engine/document/text.hpp"

namespace hindcast::optim {

namespace {

using document::Node;
using document::Range;
using document::Reader;

constexpr std::string_view type_names[rule_types] = {"gradient_descent",
                                                     "normalized_gradient_descent",
                                                     "momentum",
                                                     "adam",
                                                     "newton_cg",
                                                     "lbfgs",
                                                     "nelder_mead",
                                                     "subplex",
                                                     "cobyla",
                                                     "bobyqa",
                                                     "direct"};

// Sets of rule types, one bit each.
constexpr unsigned bit(RuleType type) { return 1u << static_cast<unsigned>(type); }
constexpr unsigned every = (1u << rule_types) - 1;
constexpr unsigned searches = every & ~(bit(RuleType::lbfgs) - 1);
constexpr unsigned steps = every & ~searches;
// These have no default rate.
constexpr unsigned rated = steps & ~bit(RuleType::adam) & ~bit(RuleType::newton_cg);

struct Key {
    std::string_view name;
    unsigned types;  // that take it
    std::string_view schema;
    std::string_view documentation;
};

constexpr Key keys[] = {
    {"iterations", every, R"("type":"integer","minimum":0,"default":100)",
     "number of updates; the history has one row more"},
    {"rate", every & ~bit(RuleType::direct), R"("type":["number","string"],"exclusiveMinimum":0)",
     "length of an update, times the group's and the parameter's rate; needed by gradient_descent, "
     "normalized_gradient_descent and momentum; adam: 0.001 unless written; newton_cg: the first "
     "trust radius; lbfgs and the "
     "derivative-free searches: of the first step only, found by itself unless written"},
    {"momentum", bit(RuleType::momentum),
     R"("type":["number","string"],"minimum":0,"exclusiveMaximum":1,"default":0.9)",
     "what is kept of the last update: m <- momentum m + g, u <- u - rate m"},
    {"nesterov", bit(RuleType::momentum), R"("type":"boolean","default":false)",
     "look ahead: u <- u - rate (g + momentum m)"},
    {"beta1", bit(RuleType::adam),
     R"("type":["number","string"],"minimum":0,"exclusiveMaximum":1,"default":0.9)",
     "decay of the first moment"},
    {"beta2", bit(RuleType::adam),
     R"("type":["number","string"],"minimum":0,"exclusiveMaximum":1,"default":0.999)",
     "decay of the second moment"},
    {"epsilon", bit(RuleType::adam),
     R"("type":["number","string"],"exclusiveMinimum":0,"default":1e-08)",
     "added to the root of the second moment"},
    {"cg_tolerance", bit(RuleType::newton_cg),
     R"("type":["number","string"],"exclusiveMinimum":0,"exclusiveMaximum":1,"default":0.001)",
     "the inner solve ends when its residual is so small beside the gradient"},
    {"cg_iterations", bit(RuleType::newton_cg), R"("type":"integer","minimum":1)",
     "most Hessian products of one inner solve; default: twice the number of parameters"},
    {"clip", steps & ~bit(RuleType::newton_cg),
     R"("type":"object","additionalProperties":false,"minProperties":1,"maxProperties":1,)"
     R"("properties":{"norm":{"type":["number","string"],"exclusiveMinimum":0},)"
     R"("value":{"type":["number","string"],"exclusiveMinimum":0}})",
     "limits the gradient in the optimizer's variable: its Euclidean norm, or each entry"},
    {"groups", every,
     R"("type":"object","additionalProperties":{"type":"object","additionalProperties":false,)"
     R"("required":["rate"],"properties":{"rate":{"type":["number","string"],)"
     R"("exclusiveMinimum":0}}})",
     "factors on the rate for the parameters of a group (a parameter's group is its path unless "
     "it says otherwise); lbfgs scales its variables by them"},
    {"memory", bit(RuleType::lbfgs), R"("type":"integer","minimum":1,"maximum":1000)",
     "how many of the last steps tell the curvature: more take fewer iterations and more memory; "
     "50 "
     "for up to 1000 parameters and 20 for more unless written"},
    {"evaluations", searches, R"("type":"integer","minimum":1)",
     "most roll-outs in all; 100 for each iteration unless written"},
    {"stop", every,
     R"("type":"object","additionalProperties":false,"properties":{)"
     R"("loss_below":{"type":["number","string"]},)"
     R"("gradient_below":{"type":["number","string"],"exclusiveMinimum":0},)"
     R"("relative_change":{"type":["number","string"],"minimum":0},)"
     R"("patience":{"type":"integer","minimum":1}})",
     "ends before all iterations: loss below a value, norm of the physical gradient below a "
     "value, or no progress by more than relative_change (0 unless written) in `patience` rows "
     "(10 unless written)"},
};

std::string list(const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view name : names)
        text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

// Refuses keys that exist, but not for this type.
void check_keys(const Node& node, RuleType type) {
    for (const Key& key : keys) {
        const std::size_t index = node.find_index(key.name);
        if (index == node.size() || (key.types & bit(type)) != 0) continue;
        std::vector<std::string_view> takers;
        for (int t = 0; t < rule_types; ++t)
            if ((key.types >> t) & 1) takers.push_back(type_names[t]);
        throw document::fault_at_key(
            node, index,
            std::string(name_of(type)) + " has no use for '" + std::string(key.name) + "'")
            .remedy("remove it; it belongs to " + list(takers));
    }
}

void read_clip(Reader& reader, Settings& settings) {
    if (!reader.has("clip")) return;
    Reader clip = reader.object("clip", "a clipping rule");
    const bool norm = clip.has("norm"), value = clip.has("value");
    if (norm) settings.clip_norm = clip.number("norm", Range::positive());
    if (value) settings.clip_value = clip.number("value", Range::positive());
    clip.finish();
    if (norm == value)
        throw document::fault(clip.node(),
                              "\"clip\" needs one rule, not " + std::string(norm ? "two" : "none"))
            .remedy("write {\"norm\": c} or {\"value\": c}");
}

void read_groups(Reader& reader, Settings& settings, std::span<const std::string> known) {
    const Node* groups = reader.find("groups");
    if (groups == nullptr) return;
    document::object_of(*groups);
    const std::vector<std::string_view> names(known.begin(), known.end());
    for (std::size_t k = 0; k < groups->size(); ++k) {
        const std::string& name = groups->key(k);
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw document::fault_at_key(*groups, k, "no parameter is in a group '" + name + "'")
                .remedy(names.empty() ? "this scene has no parameters"
                                      : document::suggestion(name, names));
        Reader group(groups->item(k), "a group of parameters");
        settings.groups[name] = group.number("rate", Range::positive());
        group.finish();
    }
}

void read_stop(Reader& reader, Settings& settings) {
    if (!reader.has("stop")) return;
    Reader stop = reader.object("stop", "the stopping rules");
    if (stop.has("loss_below")) settings.loss_below = stop.number("loss_below");
    if (stop.has("gradient_below"))
        settings.gradient_below = stop.number("gradient_below", Range::positive());
    settings.relative_change = stop.number_or("relative_change", 0, Range::at_least(0));
    if (stop.has("patience"))
        settings.patience = stop.integer("patience", 1);
    else if (stop.has("relative_change"))
        settings.patience = 10;
    stop.finish();
}

}  // namespace

const char* name_of(RuleType type) { return type_names[static_cast<int>(type)].data(); }
bool uses_gradient(RuleType type) { return type <= RuleType::lbfgs; }
bool uses_hessian(RuleType type) { return type == RuleType::newton_cg; }
bool derivative_free(RuleType type) { return type > RuleType::lbfgs; }

Settings Settings::read(const Node* node, std::span<const std::string> known_groups) {
    Settings settings;
    if (node == nullptr) return settings;
    Reader reader(*node, "an optimizer");
    settings.type = static_cast<RuleType>(reader.choice("type", std::span(type_names)));
    for (const Key& key : keys) reader.allow(std::span(&key.name, 1));
    reader.finish();
    check_keys(*node, settings.type);

    settings.iterations = reader.integer_or("iterations", 100, 0, 1'000'000'000);
    if ((bit(settings.type) & rated) != 0 || reader.has("rate"))
        settings.rate = reader.number("rate", Range::positive());
    const Range fraction{.low = 0, .high = 1, .high_open = true};
    settings.momentum = reader.number_or("momentum", settings.momentum, fraction);
    settings.nesterov = reader.boolean_or("nesterov", false);
    settings.beta1 = reader.number_or("beta1", settings.beta1, fraction);
    settings.beta2 = reader.number_or("beta2", settings.beta2, fraction);
    settings.epsilon = reader.number_or("epsilon", settings.epsilon, Range::positive());
    settings.cg_tolerance =
        reader.number_or("cg_tolerance", settings.cg_tolerance,
                         {.low = 0, .high = 1, .low_open = true, .high_open = true});
    if (reader.has("cg_iterations"))
        settings.cg_iterations = reader.integer("cg_iterations", 1, 1'000'000'000);
    if (reader.has("memory")) settings.memory = reader.integer("memory", 1, 1000);
    if (reader.has("evaluations")) settings.evaluations = reader.integer("evaluations", 1);
    read_clip(reader, settings);
    read_groups(reader, settings, known_groups);
    read_stop(reader, settings);
    return settings;
}

std::int64_t Settings::memory_for(std::size_t parameters) const {
    return memory.value_or(parameters <= 1000 ? 50 : 20);
}

std::int64_t Settings::most_evaluations() const {
    return evaluations.value_or(100 * std::max<std::int64_t>(1, iterations));
}

double Settings::base_rate() const {
    if (rate) return *rate;
    return type == RuleType::adam ? 0.001 : 1;
}

std::string Settings::describe() const {
    const auto number = [](double value) {
        std::string text = document::shortest(value);
        if (text.ends_with(".0")) text.resize(text.size() - 2);
        return text;
    };
    std::string text = name_of(type);
    if (rate || type == RuleType::adam) text += ", rate " + number(base_rate());
    if (type == RuleType::momentum)
        text += std::string(nesterov ? ", nesterov" : "") + ", momentum " + number(momentum);
    if (clip_norm != unlimited) text += ", gradient norm at most " + number(clip_norm);
    if (clip_value != unlimited) text += ", gradient entries at most " + number(clip_value);
    return text;
}

std::string schema() {
    std::string types, properties, conditions;
    for (const std::string_view name : type_names)
        types += (types.empty() ? "" : ",") + document::json_quoted(name);
    for (const Key& key : keys)
        properties += "," + document::json_quoted(key.name) +
                      ":{\"description\":" + document::json_quoted(key.documentation) + "," +
                      std::string(key.schema) + "}";
    for (int t = 0; t < rule_types; ++t) {
        std::string allowed = "\"type\"";
        for (const Key& key : keys)
            if ((key.types >> t) & 1) allowed += "," + document::json_quoted(key.name);
        conditions +=
            std::string(conditions.empty() ? "" : ",") +
            "{\"if\":{\"properties\":{\"type\":{\"const\":" + document::json_quoted(type_names[t]) +
            "}}},\"then\":{\"propertyNames\":{\"enum\":[" + allowed + "]}" +
            (((rated >> t) & 1) ? ",\"required\":[\"rate\"]" : "") + "}}";
    }
    return "{\"type\":\"object\",\"required\":[\"type\"],\"additionalProperties\":false,"
           "\"properties\":{\"type\":{\"description\":\"how the parameters are updated\","
           "\"enum\":[" +
           types + "]}" + properties + "},\"allOf\":[" + conditions + "]}";
}

}  // namespace hindcast::optim
