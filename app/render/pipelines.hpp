// Render passes, layouts and pipelines. Pipelines are made when they are first asked for.
//
// Every drawable is drawn with one layout: set 0 is the view (binding 0 SceneBlock, 1 color
// tables, 2 what is measured, 3 shadow map, 4 and 5 SettledBlock), set 1 the drawable in one slot
// (0 places, 1 values, 2 indices, 3 element_of, 4 normals, 5 triangles around points), and
// DrawConstants are pushed. Passes over the finished picture have a set of images and buffers of
// their own.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "app/render/device/vulkan.hpp"
#include "app/render/draw_list.hpp"

namespace hindcast::render {

enum class Pass : std::uint8_t { color, pick, mask, shadow };

constexpr vk::Format color_format = vk::Format::eR8G8B8A8Unorm;
constexpr vk::Format depth_format = vk::Format::eD32Sfloat;
constexpr vk::Format pick_format = vk::Format::eR32G32B32A32Uint;
constexpr vk::Format mask_format = vk::Format::eR8Unorm;

struct PipelineKey {
    Shape shape = Shape::points;
    Pass pass = Pass::color;
    int samples = 1;
    bool wide = false;        // numbers are f64
    bool blended = false;     // over the picture so far, by alpha
    bool depth_only = false;  // writes no color
    bool shadowed = false;    // looks at the shadow map
    bool sliced = false;      // a plane hides what is before it
    bool strict = false;      // only fragments nearer than the depth so far, not equally near
    auto operator<=>(const PipelineKey&) const = default;
};

class Pipelines {
public:
    explicit Pipelines(VulkanContext& context);

    // `keeps_depth`, for the color pass: one sample of the depth outlives it.
    vk::RenderPass render_pass(Pass pass, int samples, bool keeps_depth = false) const;
    vk::PipelineLayout layout() const { return *layout_; }
    vk::DescriptorSetLayout view_set() const { return *view_set_; }
    vk::DescriptorSetLayout drawable_set() const { return *drawable_set_; }
    vk::Pipeline draw(const PipelineKey& key);
    // The compute shader of that name, in the layout of the drawables.
    vk::Pipeline compute(const std::string& shader, bool wide);

    vk::PipelineLayout picture_layout() const { return *picture_layout_; }
    vk::DescriptorSetLayout picture_set() const { return *picture_set_; }
    // The compute shader of that name, in the layout of the finished picture: darkened by what is
    // near, with the outline of what is selected.
    vk::Pipeline picture(const std::string& shader, bool occluded, bool outlined);

    vk::Sampler shadow_sampler() const { return *shadow_sampler_; }
    vk::Sampler linear_sampler() const { return *linear_sampler_; }
    vk::Sampler nearest_sampler() const { return *nearest_sampler_; }

private:
    void make_layouts();
    void make_samplers();
    vk::raii::RenderPass make_pass(Pass pass, int samples, bool keeps_depth);
    vk::raii::ShaderModule module_of(const std::string& shader);
    vk::raii::Pipeline make_draw(const PipelineKey& key);
    vk::raii::Pipeline make_compute(const std::string& shader, vk::PipelineLayout layout,
                                    const vk::SpecializationInfo& special);

    VulkanContext& context_;
    vk::raii::DescriptorSetLayout view_set_{nullptr}, drawable_set_{nullptr}, picture_set_{nullptr};
    vk::raii::PipelineLayout layout_{nullptr}, picture_layout_{nullptr};
    vk::raii::Sampler shadow_sampler_{nullptr}, linear_sampler_{nullptr}, nearest_sampler_{nullptr};
    std::map<std::tuple<Pass, int, bool>, vk::raii::RenderPass> passes_;
    std::map<PipelineKey, vk::raii::Pipeline> draws_;
    std::map<std::pair<std::string, bool>, vk::raii::Pipeline> computes_;
    std::map<std::tuple<std::string, bool, bool>, vk::raii::Pipeline> pictures_;
};

}  // namespace hindcast::render
