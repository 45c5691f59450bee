// The scene's "optimizer": what is read, what is refused and how that is said, and the schema.
#include <fmt/core.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/document/read.hpp"
#include "engine/optim/settings.hpp"

using namespace hindcast;
using namespace hindcast::optim;

namespace {

const std::vector<std::string> groups = {"lengths", "cage.stiffness"};

Settings read(const std::string& text) {
    const auto document = document::Document::parse(text, "scene.json");
    return Settings::read(&document.root(), groups);
}

std::string message(const std::string& text) {
    try {
        read(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing is wrong";
}

void check_message(const std::string& text, const std::string& part) {
    const std::string found = message(text);
    CAPTURE(found);
    CHECK(found.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("defaults: L-BFGS, 100 iterations") {
    const Settings s = Settings::read(nullptr, groups);
    CHECK(s.type == RuleType::lbfgs);
    CHECK(s.iterations == 100);
    CHECK(s.describe() == "lbfgs");
    const Settings adam = read(R"({"type": "adam"})");
    CHECK(adam.base_rate() == 0.001);
    CHECK(adam.describe() == "adam, rate 0.001");
    CHECK(adam.clip_norm == unlimited);
    CHECK_FALSE(adam.patience.has_value());
}

TEST_CASE("every key is read") {
    const Settings s = read(R"({"type": "momentum", "rate": "1/4", "iterations": 7,
        "momentum": 0.8, "nesterov": true, "clip": {"norm": 3}, "groups": {"lengths": {"rate": 2}},
        "stop": {"loss_below": 1e-3, "gradient_below": 1e-4, "relative_change": 0.01,
                 "patience": 5}})");
    CHECK(s.type == RuleType::momentum);
    CHECK(s.base_rate() == 0.25);
    CHECK(s.iterations == 7);
    CHECK(s.momentum == 0.8);
    CHECK(s.nesterov);
    CHECK(s.clip_norm == 3);
    CHECK(s.groups.at("lengths") == 2);
    CHECK(*s.loss_below == 1e-3);
    CHECK(*s.gradient_below == 1e-4);
    CHECK(s.relative_change == 0.01);
    CHECK(*s.patience == 5);
    CHECK(s.describe() == "momentum, rate 0.25, nesterov, momentum 0.8, gradient norm at most 3");
    const Settings a = read(R"({"type": "adam", "rate": 0.1, "beta1": 0.5, "beta2": 0.6,
                                "epsilon": 1e-3, "clip": {"value": 2}})");
    CHECK(a.beta1 == 0.5);
    CHECK(a.beta2 == 0.6);
    CHECK(a.epsilon == 1e-3);
    CHECK(a.clip_value == 2);
    CHECK(read(R"({"type": "cobyla", "evaluations": 50})").evaluations == 50);
    CHECK(read(R"({"type": "lbfgs", "stop": {"relative_change": 0.1}})").patience == 10);
    CHECK(read(R"({"type": "gradient_descent", "rate": 0.5})").describe() ==
          "gradient_descent, rate 0.5");
}

TEST_CASE("mistakes are named, with a remedy") {
    check_message(R"({"rate": 1})", "type");
    check_message(R"({"type": "gradient_decent", "rate": 1})", "did you mean 'gradient_descent'?");
    check_message(R"({"type": "gradient_descent"})", "rate");
    check_message(R"({"type": "gradient_descent", "rate": 0})", "above 0");
    check_message(R"({"type": "gradient_descent", "rate": 1, "iteration": 3})",
                  "did you mean 'iterations'?");
    check_message(R"({"type": "gradient_descent", "rate": 1, "momentum": 0.9})",
                  "gradient_descent has no use for 'momentum'; remove it; it belongs to momentum");
    check_message(R"({"type": "direct", "rate": 1})", "direct has no use for 'rate'");
    check_message(R"({"type": "lbfgs", "clip": {"norm": 1}})", "lbfgs has no use for 'clip'");
    check_message(R"({"type": "adam", "beta1": 1})", "beta1");
    check_message(R"({"type": "adam", "clip": {}})", "needs one rule, not none");
    check_message(R"({"type": "adam", "clip": {"norm": 1, "value": 1}})",
                  "needs one rule, not two");
    check_message(R"({"type": "adam", "groups": {"lenghts": {"rate": 1}}})",
                  "no parameter is in a group 'lenghts'; did you mean 'lengths'?");
    check_message(R"({"type": "adam", "groups": {"lengths": {"rate": 1, "factor": 1}}})",
                  "unknown key 'factor'");
    check_message(R"({"type": "adam", "stop": {"patience": 0}})", "/stop/patience");
    check_message(R"({"type": "adam", "stop": {"loss": 0}})", "unknown key 'loss'");
    check_message(R"({"type": "adam", "iterations": -1})", "iterations");
}

TEST_CASE("the schema is JSON and names the keys that the reader takes, type by type") {
    const auto document = document::Document::parse(schema());
    const document::Node& root = document.root();
    const document::Node& properties = *root.find("properties");
    CHECK(properties.find("type")->find("enum")->size() == rule_types);
    for (std::size_t k = 0; k < properties.size(); ++k)
        CHECK(properties.item(k).find("description") != nullptr);
    const document::Node& conditions = *root.find("allOf");
    REQUIRE(conditions.size() == rule_types);
    const std::vector<std::pair<std::string, std::string>> samples = {
        {"iterations", "3"},
        {"rate", "1"},
        {"momentum", "0.5"},
        {"nesterov", "true"},
        {"beta1", "0.5"},
        {"beta2", "0.5"},
        {"epsilon", "1"},
        {"cg_tolerance", "0.1"},
        {"cg_iterations", "5"},
        {"clip", R"({"norm": 1})"},
        {"groups", R"({"lengths": {"rate": 1}})"},
        {"memory", "5"},
        {"evaluations", "5"},
        {"stop", R"({"patience": 1})"}};
    CHECK(samples.size() + 1 == properties.size());
    for (std::size_t t = 0; t < conditions.size(); ++t) {
        const std::string type = conditions.item(t)
                                     .find("if")
                                     ->find("properties")
                                     ->find("type")
                                     ->find("const")
                                     ->string();
        CHECK(type == name_of(static_cast<RuleType>(t)));
        const document::Node& then = *conditions.item(t).find("then");
        const document::Node& allowed = *then.find("propertyNames")->find("enum");
        for (const auto& [key, value] : samples) {
            bool listed = false;
            for (std::size_t k = 0; k < allowed.size(); ++k)
                listed |= allowed.item(k).string() == key;
            std::string text = fmt::format(R"({{"type": "{}", "{}": {})", type, key, value);
            if (then.find("required") != nullptr && key != "rate") text += ", \"rate\": 1";
            CAPTURE(text);
            CHECK((message(text + "}") == "nothing is wrong") == listed);
        }
        CHECK((message("{\"type\": \"" + type + "\"}") == "nothing is wrong") ==
              (then.find("required") == nullptr));
    }
}
