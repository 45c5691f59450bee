#include "app/gui/draw/offscreen_canvas.hpp"

#include <implot.h>

#include <algorithm>
#include <optional>

#include "app/gui/draw/canvas.hpp"
#include "app/gui/draw/widgets.hpp"

namespace hindcast::gui {

// While it lives, ImGui's calls go to the sheet.
struct OffscreenCanvas::State {
    render::VulkanContext& vulkan;
    ImGuiContext* imgui = nullptr;
    ImPlotContext* plot = nullptr;
    std::unique_ptr<Theme> theme;
    std::unique_ptr<Canvas> canvas;
    std::optional<ImTextureID> texture;
    std::uint64_t generation = 0;

    explicit State(render::VulkanContext& context) : vulkan(context) {}

    class Entered {
    public:
        explicit Entered(const State& state)
            : imgui_(ImGui::GetCurrentContext()),
              plot_(ImPlot::GetCurrentContext()),
              theme_(style().theme) {
            ImGui::SetCurrentContext(state.imgui);
            ImPlot::SetCurrentContext(state.plot);
            if (state.theme) set_style(state.theme.get());
        }
        ~Entered() {
            ImGui::SetCurrentContext(imgui_);
            ImPlot::SetCurrentContext(plot_);
            set_style(theme_);
        }
        Entered(const Entered&) = delete;
        Entered& operator=(const Entered&) = delete;

    private:
        ImGuiContext* const imgui_;
        ImPlotContext* const plot_;
        const Theme* const theme_;
    };
};

OffscreenCanvas::OffscreenCanvas(render::VulkanContext& context, bool dark, double scale)
    : state_(std::make_unique<State>(context)) {
    State& s = *state_;
    ImGuiContext* const imgui = ImGui::GetCurrentContext();
    ImPlotContext* const plot = ImPlot::GetCurrentContext();
    // With another context current, making one leaves that current.
    s.imgui = ImGui::CreateContext();
    s.plot = ImPlot::CreateContext();
    ImGui::SetCurrentContext(imgui);
    ImPlot::SetCurrentContext(plot);
    const State::Entered entered(s);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = io.LogFilename = nullptr;
    io.BackendPlatformName = "hindcast's sheet";
    s.canvas = std::make_unique<Canvas>(context, 16, 16);
    s.theme = std::make_unique<Theme>();
    s.theme->apply(dark, static_cast<float>(scale));
}

OffscreenCanvas::~OffscreenCanvas() {
    State& s = *state_;
    {
        const State::Entered entered(s);
        if (s.texture) s.canvas->forget(*s.texture);
        s.canvas.reset();  // waits
    }
    ImPlot::DestroyContext(s.plot);
    ImGui::DestroyContext(s.imgui);
}

double OffscreenCanvas::scale_for(int height) {
    constexpr double height_at_one = 720;
    return std::max(height / height_at_one, 1.0);
}

render::Image OffscreenCanvas::draw(int width, int height, const std::function<void()>& content,
                                    int frames) {
    State& s = *state_;
    const State::Entered entered(s);
    ImGuiIO& io = ImGui::GetIO();
    s.canvas->resize(width, height);
    for (int k = 0; k < frames; ++k) {
        io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
        io.DeltaTime = 1.0F / 60;
        s.canvas->new_frame();
        ImGui::NewFrame();
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize(io.DisplaySize);
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
        ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
        ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
        ImGui::Begin("sheet", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings |
                         ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoNav);
        ImGui::PopStyleVar(3);
        content();
        ImGui::End();
        ImGui::Render();
        s.canvas->draw(*ImGui::GetDrawData());
    }
    return s.canvas->read();
}

render::Image OffscreenCanvas::annotated(render::Renderer& renderer, const render::View& view,
                                         const std::function<void(ImVec2 at)>& labels) {
    State& s = *state_;
    renderer.picture(view);  // waits: the range of colors is that of this picture
    const render::Renderer::Texture texture = renderer.texture();
    {
        const State::Entered entered(s);
        if (!s.texture || texture.generation != s.generation) {
            if (s.texture) s.canvas->forget(*s.texture);
            s.texture = s.canvas->texture(static_cast<VkImageView>(texture.view));
            s.generation = texture.generation;
        }
    }
    return draw(view.width, view.height, [&] {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::GetWindowDrawList()->AddImage(
            ImTextureRef(*s.texture), at,
            {at.x + static_cast<float>(view.width), at.y + static_cast<float>(view.height)});
        labels(at);
    });
}

}  // namespace hindcast::gui
