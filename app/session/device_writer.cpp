#include "app/session/device_writer.hpp"

#include <cstring>

#include "engine/backend/cuda_context.hpp"

namespace hindcast::session {

void DeviceWriter::write(const FrameJob& job, const Device& device) {
    if (!device.cuda())
        throw Error("frames are to go to memory of a CUDA device, but the solver is on another one")
            .remedy("choose another --transport, or --device cuda");
    const render::Stage& stage = job.exchange->stage();
    const ir::Type type = stage.real == render::RealType::f32 ? ir::Type::f32 : ir::Type::f64;
    if (exchange_ != job.exchange) {
        exchange_ = job.exchange;
        for (auto& arrays : arrays_) arrays.clear();
    }
    render::Frame frame = job.frame();
    frame.slot = job.exchange->begin();
    std::vector<Array>& arrays = arrays_[static_cast<std::size_t>(frame.slot)];
    const std::vector<render::SharedMemory>& slot = job.exchange->slot(frame.slot);
    if (arrays.empty())
        for (std::size_t c = 0; c < stage.channels.size(); ++c)
            arrays.push_back(Array::over(
                device.cuda(), {slot[c].descriptor, slot[c].exported_bytes, slot[c].offset}, type,
                {stage.channels[c].elements, stage.channels[c].components}));
    scratch_.resize(stage.channels.size());
    std::vector<render::SharedMemory> host(stage.channels.size());
    for (std::size_t c = 0; c < host.size(); ++c) {
        scratch_[c].resize(stage.channels[c].bytes(stage.real));
        host[c].host = scratch_[c].data();
        host[c].bytes = scratch_[c].size();
    }
    write_channels(job.moment, host);
    for (std::size_t c = 0; c < host.size(); ++c) {
        if (arrays[c].size() == 0) continue;
        std::memcpy(arrays[c].data(), scratch_[c].data(), scratch_[c].size());
        arrays[c].touch();
        arrays[c].memory().on(device.cuda());
    }
    device.synchronize();
    job.exchange->publish(std::move(frame));
}

}  // namespace hindcast::session
