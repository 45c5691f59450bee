// A renderer with Vulkan's validation on, and small stages to draw with it.
//
//     Studio studio;                                   // borrows the one device of all tests
//     StageMaker stage;
//     const int places = stage.channel("position", 3, {0, 0, 0});
//     stage.points(places, 1, 0.5);
//     const Image image = studio.draw(stage, view);
//
// A Studio fails the test if the validation layers said anything. With
// HINDCAST_TEST_PICTURES=FOLDER every picture that a test keeps is written there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/render/device/vulkan_context.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::test {

struct StageMaker {
    render::Stage stage;
    std::vector<std::vector<double>> channels;
    std::vector<std::vector<double>> numbers;                 // by thing
    std::vector<std::shared_ptr<const render::Mesh>> meshes;  // alike

    StageMaker() {
        stage.low = {-1, -1, 0};
        stage.high = {1, 1, 1};
    }
    int channel(const std::string& name, int components, std::vector<double> values);
    render::Drawable& add(render::Drawable::Kind kind, const std::string& name);
    render::Drawable& points(int places, std::int64_t count, double radius);
    render::Drawable& segments(int places, std::vector<std::uint32_t> indices, double radius);
    render::Drawable& surface(int places, std::vector<std::uint32_t> indices);
    render::Drawable& field(int values, std::int64_t rows, std::int64_t columns, double spacing);
    render::Drawable& with_numbers(render::Drawable::Kind kind, const std::string& name,
                                   std::vector<double> values);
    // Moved, and turned about z by an angle in rad.
    render::Drawable& solid(const std::string& name, render::Mesh mesh, const render::Vec3& center,
                            double angle = 0);
};

// Writes the channels in the stage's real type into a free slot, and publishes it.
void publish(render::Exchange& exchange, const StageMaker& maker, double time = 0);

class Studio {
public:
    Studio();
    ~Studio();  // checks that nobody complained

    render::VulkanContext& context;
    render::Renderer renderer;

    std::shared_ptr<render::Exchange> show(
        const StageMaker& maker,
        std::optional<render::TransportKind> kind = render::TransportKind::mapped);
    // Shows the stage and gives its picture.
    render::Image draw(const StageMaker& maker, const render::View& view,
                       std::optional<render::TransportKind> kind = render::TransportKind::mapped);
};

// No background, floor, shadow or occlusion: what is drawn is on plain black.
render::View plain_view(int width = 160, int height = 120);
render::View plane_view(const StageMaker& maker, int width, int height, double meters_high,
                        render::Vec3 center = {0, 0, 0});

struct Pixel {
    int r = 0, g = 0, b = 0;
    bool operator==(const Pixel&) const = default;
    bool black() const { return r == 0 && g == 0 && b == 0; }
};
Pixel pixel(const render::Image& image, int x, int y);
int count_drawn(const render::Image& image);  // that are not black

// For looking at: written to HINDCAST_TEST_PICTURES.
void keep(const render::Image& image, const std::string& name);
// Messages of the validation layers so far; forgets them.
std::vector<std::string> take_messages();
void check_silent();  // that there were none
render::ContextOptions validated_options();

}  // namespace hindcast::test
