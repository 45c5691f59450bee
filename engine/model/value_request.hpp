// Requests for values of a scene, for modules that evaluate one themselves.
#pragma once

#include "engine/document/values.hpp"
#include "engine/model/model.hpp"

namespace hindcast::model {

// A request for any number of elements with one component.
inline document::ValueRequest value_request(const Model& model) {
    document::ValueRequest request;
    request.functions = model.options().functions;
    request.seed = model.options().seed;
    request.files = model.options().files;
    return request;
}

}  // namespace hindcast::model
