#include "tests/render/studio.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "app/render/output/png.hpp"

namespace hindcast::test {

using namespace render;

namespace {

std::mutex messages_mutex;
std::vector<std::string> messages;

VulkanContext& shared_context() {
    static VulkanContext context(validated_options());
    return context;
}

}  // namespace

ContextOptions validated_options() {
    ContextOptions options;
    options.validation = true;
    options.on_message = [](const std::string& message) {
        const std::lock_guard lock(messages_mutex);
        messages.push_back(message);
    };
    return options;
}

std::vector<std::string> take_messages() {
    const std::lock_guard lock(messages_mutex);
    return std::exchange(messages, {});
}

void check_silent() {
    const auto all = take_messages();
    const std::set<std::string> different(all.begin(), all.end());
    for (const std::string& message : different) FAIL_CHECK("validation: ", message);
}

int StageMaker::channel(const std::string& name, int components, std::vector<double> values) {
    stage.channels.push_back(
        {name, static_cast<std::int64_t>(values.size()) / components, components});
    channels.push_back(std::move(values));
    return static_cast<int>(channels.size()) - 1;
}

Drawable& StageMaker::add(Drawable::Kind kind, const std::string& name) {
    Drawable drawable;
    drawable.kind = kind;
    drawable.name = name;
    stage.drawables.push_back(drawable);
    numbers.emplace_back();
    return stage.drawables.back();
}

Drawable& StageMaker::points(int places, std::int64_t count, double radius) {
    Drawable& drawable = add(Drawable::Kind::points, "points");
    drawable.places = places;
    drawable.count = count;
    drawable.radius = radius;
    return drawable;
}

Drawable& StageMaker::segments(int places, std::vector<std::uint32_t> indices, double radius) {
    Drawable& drawable = add(Drawable::Kind::segments, "segments");
    drawable.places = places;
    drawable.indices = std::move(indices);
    drawable.radius = radius;
    return drawable;
}

Drawable& StageMaker::surface(int places, std::vector<std::uint32_t> indices) {
    Drawable& drawable = add(Drawable::Kind::surface, "surface");
    drawable.places = places;
    drawable.indices = std::move(indices);
    return drawable;
}

Drawable& StageMaker::field(int values, std::int64_t rows, std::int64_t columns, double spacing) {
    Drawable& drawable = add(Drawable::Kind::field, "field");
    drawable.values = values;
    drawable.rows = rows;
    drawable.columns = columns;
    drawable.spacing = spacing;
    return drawable;
}

Drawable& StageMaker::with_numbers(Drawable::Kind kind, const std::string& name,
                                   std::vector<double> values) {
    Drawable& drawable = add(kind, name);
    numbers.back() = std::move(values);
    return drawable;
}

Drawable& StageMaker::solid(const std::string& name, Mesh mesh, const Vec3& center, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    Drawable& drawable = with_numbers(
        Drawable::Kind::solid, name, {center[0], center[1], center[2], c, -s, 0, s, c, 0, 0, 0, 1});
    meshes.resize(numbers.size());
    meshes.back() = std::make_shared<const Mesh>(std::move(mesh));
    return drawable;
}

void publish(Exchange& exchange, const StageMaker& maker, double time) {
    Frame frame;
    frame.slot = exchange.begin();
    frame.time = time;
    frame.numbers = maker.numbers;
    frame.meshes = maker.meshes;
    const auto& memory = exchange.slot(frame.slot);
    for (std::size_t c = 0; c < maker.channels.size(); ++c) {
        const auto& values = maker.channels[c];
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (maker.stage.real == RealType::f64) {
                std::memcpy(memory[c].host + 8 * k, &values[k], 8);
            } else {
                const auto value = static_cast<float>(values[k]);
                std::memcpy(memory[c].host + 4 * k, &value, 4);
            }
        }
    }
    exchange.publish(std::move(frame));
}

Studio::Studio() : context(shared_context()), renderer(context) {}

Studio::~Studio() { check_silent(); }

std::shared_ptr<Exchange> Studio::show(const StageMaker& maker, std::optional<TransportKind> kind) {
    auto exchange = renderer.share(std::make_shared<Stage>(maker.stage), kind);
    if (exchange->kind() != TransportKind::exported) publish(*exchange, maker);
    return exchange;
}

Image Studio::draw(const StageMaker& maker, const View& view, std::optional<TransportKind> kind) {
    const auto exchange = show(maker, kind);
    CHECK(renderer.draw(view));
    return renderer.read_image();
}

View plain_view(int width, int height) {
    View view;
    view.width = width;
    view.height = height;
    view.samples = 1;
    view.background_top = view.background_bottom = {0, 0, 0, 1};
    view.floor = view.shadows = view.ambient_occlusion = false;
    view.camera.eye = {0, -4, 0};
    view.camera.target = {0, 0, 0};
    return view;
}

View plane_view(const StageMaker& maker, int width, int height, double meters_high, Vec3 center) {
    View view = plain_view(width, height);
    view.camera = default_camera(maker.stage, static_cast<double>(width) / height);
    view.camera.target = center;
    view.camera.eye = {center[0], center[1], 1};
    view.camera.height = meters_high;
    return view;
}

Pixel pixel(const Image& image, int x, int y) {
    const std::size_t at = 4 * (static_cast<std::size_t>(y) * image.width + x);
    return {image.pixels[at], image.pixels[at + 1], image.pixels[at + 2]};
}

int count_drawn(const Image& image) {
    int count = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) count += !pixel(image, x, y).black();
    return count;
}

void keep(const Image& image, const std::string& name) {
    const char* const folder = std::getenv("HINDCAST_TEST_PICTURES");
    if (folder == nullptr) return;
    std::filesystem::create_directories(folder);
    write_png(std::filesystem::path(folder) / (name + ".png"), image);
}

}  // namespace hindcast::test
