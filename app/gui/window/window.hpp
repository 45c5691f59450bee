// The window on the screen: GLFW, the swapchain that the canvas is copied to, and ImGui's input.
//
//     Window window({.title = "Hindcast", .width = 1280, .height = 720});
//     VulkanContext context(window.context_options());
//     window.connect(context);      // after ImGui::CreateContext()
//     while (!window.closed()) { window.wait(0.1); ...; window.show(canvas, draw_data); }
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/draw/canvas.hpp"

struct GLFWwindow;

namespace hindcast::gui {

struct WindowOptions {
    std::string title = "Hindcast";
    int width = 1280, height = 800;
};

class Window {
public:
    // Throws Error, with a remedy, if there is no display.
    explicit Window(const WindowOptions& options);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    static bool display_exists();  // the environment names an X display

    // The options that the context needs.
    render::ContextOptions context_options() const;
    void connect(render::VulkanContext& context);
    void disconnect();  // before the context is destroyed

    // Handle events; wait() waits for one, at most so many seconds. Any thread may end the waiting
    // with wake().
    void poll();
    void wait(double seconds);
    static void wake();
    void new_frame();

    // Draws into the canvas and shows it, unless the window has no area.
    void show(Canvas& canvas, ImDrawData& data);

    // True if the window's content was damaged since the last call.
    bool take_damage() { return std::exchange(damaged_, false); }
    bool closed() const;
    void keep_open();  // cancels the user's request to close it
    void set_title(const std::string& title);
    double content_scale() const;  // of the monitor
    int width() const;             // pixels
    int height() const;
    bool has_area() const { return width() > 0 && height() > 0; }
    bool is_shown() const;  // it has an area and is not minimized
    void restore();         // brings back one that is minimized

    // Files dropped onto the window.
    std::function<void(const std::vector<std::filesystem::path>&)> on_drop;

private:
    // `key` and `modifiers` of an event that the back end is to take.
    void hand_on(int key, int modifiers, const std::function<void()>& to_back_end);
    void make_swapchain(Canvas& canvas);
    void destroy_swapchain();

    GLFWwindow* window_ = nullptr;
    render::VulkanContext* context_ = nullptr;
    std::unique_ptr<Functions> functions_;
    VkSurfaceKHR surface_ = VK_NULL_HANDLE;
    VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
    VkExtent2D extent_{};
    bool outdated_ = true, damaged_ = false;
    bool asked_to_close_ = false;  // since the right Alt key was last heard of
    struct Shown {
        VkImage image = VK_NULL_HANDLE;
        VkSemaphore drawn = VK_NULL_HANDLE;
    };
    std::vector<Shown> images_;
    std::vector<VkSemaphore> acquired_;
    std::size_t next_acquired_ = 0;
};

}  // namespace hindcast::gui
