// Writes contacts to the slots of their pair.
#pragma once

#include "engine/geometry/contact.hpp"

namespace hindcast::articulated {

using namespace geometry;
using geometry::Shape;

inline void store(const Contact& contact, const Int& slot, const WriteSlice<Float>& dist,
                  const WriteSlice<Vec3>& place, const WriteSlice<Mat3>& frame) {
    const Mat3 none = Mat3::identity(), axes = frame_of(contact);
    Mat3 shown;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) shown(r, c) = select(contact.exists, axes(r, c), none(r, c));
    dist.store_once(slot, select(contact.exists, contact.dist, Float(far_away)));
    place.store_once(slot, select(contact.exists, contact.place, Vec3()));
    frame.store_once(slot, shown);
}

inline void store_all(const Contacts& contacts, const Int& first, const WriteSlice<Float>& dist,
                      const WriteSlice<Vec3>& place, const WriteSlice<Mat3>& frame) {
    Int slot = first;
    for (const Contact& contact : contacts) {
        store(contact, slot, dist, place, frame);
        slot = slot + 1;
    }
}

}  // namespace hindcast::articulated
