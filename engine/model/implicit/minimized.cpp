#include "engine/model/implicit/minimized.hpp"

#include <algorithm>

#include "engine/base/error.hpp"

namespace hindcast::model {

std::int64_t Minimized::frame_of(const std::string& carrier, std::int64_t body,
                                 std::int64_t points) {
    std::int64_t next = points;
    Carrier* of = nullptr;
    for (Carrier& c : carriers_) {
        if (c.name == carrier) of = &c;
        for (const Carrier::Frame& frame : c.frames) {
            if (&c == of && frame.body == body) return frame.first;
            next = std::max(next, frame.first + frame_points);
        }
    }
    if (of == nullptr) throw Error("internal: no coordinates carry '" + carrier + "'");
    of->frames.push_back({body, next});
    return next;
}

}  // namespace hindcast::model
