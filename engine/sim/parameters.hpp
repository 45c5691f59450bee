// Parameters: which numbers of the scene may change, as one flat vector of f64.
//
//     "parameters": [{"path": "cage.rest_length", "bounds": [0.01, 10], "scale": "log",
//                     "per": "element", "select": {"indices": [0, 2]}, "components": ["x"],
//                     "group": "lengths", "rate": 0.1}]
// Elements that have names may be selected by "names" in place of "indices".
//
// A parameter has the shape its value is written in: one number is one shared parameter, a list one
// per element. "per": "element" makes a shared value independent per element, and so does a path
// with an element; "shared" and "body" insist on one value.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/document/node.hpp"
#include "engine/model/model.hpp"

namespace hindcast {

struct Parameter {
    std::string path;  // as written in the scene
    model::Quantity* quantity = nullptr;
    std::vector<std::size_t> entries;  // positions in quantity->values
    std::vector<std::string> names;    // one per entry: "cage.rest_length[3]", "ball.velocity.x"
    double low = -std::numeric_limits<double>::infinity(),
           high = std::numeric_limits<double>::infinity();
    bool log_scale = false;
    std::string group;  // default: the path
    double rate = 1;    // factor on the optimizer's rate
};

class Parameters {
public:
    // path -> wanted per element, read before the model is built.
    static std::map<std::string, bool> per_element(const document::Node& scene_root);
    // Resolves the scene's "parameters" in a built model.
    Parameters(const document::Node& scene_root, model::Model& model);

    const std::vector<Parameter>& list() const { return list_; }
    std::size_t size() const { return size_; }  // of the flat vector
    const std::vector<std::string>& names() const { return names_; }
    // Per entry: the reason for a kink at its value, or "" (engine/model/kinks.hpp).
    std::vector<std::string> kinks(model::Model& model) const;

    std::vector<double> values() const;               // physical values
    void set_values(std::span<const double> values);  // and to the device
    // The quantities' arrays have been set from this vector of f64 on the device, so the values are
    // those that it holds, until set_values(). They are fetched when somebody asks.
    void values_are_in(const Array& vector) { newest_ = vector; }
    void fetch_values() const;             // now: to the quantities' values
    std::vector<double> gradient() const;  // from the quantities' gradient arrays
    void set_tangents(std::span<const double> direction) const;
    void set_second_tangents(std::span<const double> direction) const;
    std::vector<double> gradient_tangents() const;  // of the gradients: Hessian-vector products

private:
    template <class F>
    void each(F f) const;
    std::vector<double> gather(Array (*pick)(const model::Quantity&)) const;
    void set(std::span<const double> direction, Array (Array::*of)() const) const;

    std::vector<Parameter> list_;
    std::vector<std::string> names_;
    std::size_t size_ = 0;
    mutable Array newest_;  // if values are on the device
};

}  // namespace hindcast
