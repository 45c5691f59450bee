// The image that the whole window is drawn into, with or without a screen. ImGui's draw data is
// rendered into it, and it is copied to the screen or into a picture, so a screenshot shows exactly
// what the screen showed.
//
//     Canvas canvas(context, 1280, 720);      // after ImGui::CreateContext()
//     canvas.new_frame();  ImGui::NewFrame(); ... ImGui::Render();
//     canvas.draw(*ImGui::GetDrawData());
//     render::Image image = canvas.read();
#pragma once

#include <imgui.h>

#include <array>
#include <functional>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/gui/draw/functions.hpp"

namespace hindcast::gui {

class Canvas {
public:
    Canvas(render::VulkanContext& context, int width, int height);
    ~Canvas();
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;

    int width() const { return width_; }
    int height() const { return height_; }
    void resize(int width, int height);

    void new_frame();
    // Additional commands and semaphores, for copying to the screen.
    struct Screen {
        std::function<void(VkCommandBuffer, VkImage)> record;
        std::vector<VkSemaphoreSubmitInfo> waits, signals;
    };
    void draw(ImDrawData& data, const Screen& screen = {});
    // The image of the last draw; waits for it.
    render::Image read();

    // Textures for ImGui. `view` must be in the layout for being read by shaders.
    ImTextureID texture(VkImageView view);
    void forget(ImTextureID texture);  // after the device has finished with it
    // Uploads a picture, which lives as long as the canvas.
    ImTextureID upload(const render::Image& image);

    const Functions& functions() const { return functions_; }
    render::VulkanContext& context() { return context_; }

private:
    struct Picture {
        VkImage image = VK_NULL_HANDLE;
        VkImageView view = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };
    struct Buffer {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        void* mapped = nullptr;
    };
    Picture make_picture(int width, int height, VkImageUsageFlags usage, const char* name);
    void destroy(const Picture& picture) const;
    Buffer make_buffer(std::size_t bytes, VkBufferUsageFlags usage, const char* name) const;
    void destroy(const Buffer& buffer) const;
    void make_target();
    VkCommandBuffer begin();

    render::VulkanContext& context_;
    Functions functions_;
    int width_, height_;
    VkRenderPass pass_ = VK_NULL_HANDLE;
    Picture target_;
    VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
    struct Slot {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        std::uint64_t value = 0;  // of the timeline, from when on it is free
    };
    std::array<Slot, 2> slots_;
    std::size_t next_slot_ = 0, current_slot_ = 0;
    std::vector<Picture> uploads_;
};

}  // namespace hindcast::gui
