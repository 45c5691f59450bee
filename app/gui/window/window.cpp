// GLFW_INCLUDE_NONE is set: Vulkan's types come from the context's header.
#include "app/gui/window/window.hpp"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstdlib>

#include "app/render/device/uses.hpp"

// GLFW declares these only if its header finds Vulkan's prototypes.
extern "C" {
VkResult glfwCreateWindowSurface(VkInstance instance, GLFWwindow* window,
                                 const VkAllocationCallbacks* allocator, VkSurfaceKHR* surface);
int glfwGetPhysicalDevicePresentationSupport(VkInstance instance, VkPhysicalDevice device,
                                             uint32_t queuefamily);
}

namespace hindcast::gui {

namespace {

std::string glfw_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text != nullptr ? text : "no reason was given";
}

Error no_window(const std::string& reason) {
    return Error("the window cannot be opened: " + reason)
        .remedy(
            "start it in a graphical session (X11), or under xvfb-run; without a window, "
            "`hindcast optimize SCENE` optimizes and `hindcast render SCENE` makes pictures");
}

struct Modifier {
    int mask, left, right;  // GLFW's
    ImGuiKey chord, left_key, right_key;
};
constexpr Modifier all_modifiers[] = {
    {GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL, ImGuiMod_Ctrl,
     ImGuiKey_LeftCtrl, ImGuiKey_RightCtrl},
    {GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT, ImGuiMod_Shift, ImGuiKey_LeftShift,
     ImGuiKey_RightShift},
    {GLFW_MOD_ALT, GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT, ImGuiMod_Alt, ImGuiKey_LeftAlt,
     ImGuiKey_RightAlt},
    {GLFW_MOD_SUPER, GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER, ImGuiMod_Super, ImGuiKey_LeftSuper,
     ImGuiKey_RightSuper}};

}  // namespace

// The back end takes the state of modifiers from GLFW, which misses a release while somebody else
// has grabbed the keyboard, as a window manager does for Alt+F4. The event itself says which ones
// are pressed: all others are released first, and the back end's word about them is dropped.
void Window::hand_on(int key, int modifiers, const std::function<void()>& to_back_end) {
    if (key == GLFW_KEY_RIGHT_ALT) asked_to_close_ = false;
    // On many keyboards the right one is AltGr, which is no modifier of GLFW.
    const bool alt_gr = glfwGetKey(window_, GLFW_KEY_RIGHT_ALT) == GLFW_PRESS && !asked_to_close_;
    ImGuiIO& io = ImGui::GetIO();
    int released = 0;
    for (const Modifier& m : all_modifiers) {
        if ((modifiers & m.mask) != 0 || key == m.left || key == m.right) continue;
        if (m.mask == GLFW_MOD_ALT && alt_gr) continue;
        for (const ImGuiKey each : {m.chord, m.left_key, m.right_key}) io.AddKeyEvent(each, false);
        released |= m.chord;
    }
    ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
    const int before = queue.Size;
    to_back_end();
    for (int k = queue.Size; k-- > before;)
        if (const ImGuiInputEvent& event = queue[k];
            event.Type == ImGuiInputEventType_Key && event.Key.Down &&
            (event.Key.Key & released & ImGuiMod_Mask_) != 0)
            queue.erase(&event);
}

bool Window::display_exists() {
    const char* display = std::getenv("DISPLAY");
    return display != nullptr && *display != '\0';
}

Window::Window(const WindowOptions& options) {
    if (!display_exists()) {
        const char* const wayland = std::getenv("WAYLAND_DISPLAY");
        if (wayland != nullptr && *wayland != '\0')
            throw Error(
                "the window cannot be opened: it needs X11, and this Wayland session has no X "
                "server (DISPLAY is not set)")
                .remedy(
                    "install Xwayland and log in anew, or start the program under xvfb-run; "
                    "without "
                    "a window, `hindcast optimize SCENE` optimizes and `hindcast render SCENE` "
                    "makes pictures");
        throw no_window("there is no display (DISPLAY is not set)");
    }
    glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
    if (glfwInit() == GLFW_FALSE) throw no_window(glfw_error());
    if (glfwVulkanSupported() == GLFW_FALSE) {
        glfwTerminate();
        throw Error("the window cannot be opened: there is no Vulkan on this machine")
            .remedy("install a driver; Debian's mesa-vulkan-drivers has one for every processor");
    }
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    window_ =
        glfwCreateWindow(options.width, options.height, options.title.c_str(), nullptr, nullptr);
    if (window_ == nullptr) {
        const std::string reason = glfw_error();
        glfwTerminate();
        throw no_window(reason);
    }
    glfwSetWindowSizeLimits(window_, 640, 400, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwSetWindowUserPointer(window_, this);
    glfwSetWindowRefreshCallback(window_, [](GLFWwindow* window) {
        static_cast<Window*>(glfwGetWindowUserPointer(window))->damaged_ = true;
    });
    glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** names) {
        auto* self = static_cast<Window*>(glfwGetWindowUserPointer(window));
        if (self->on_drop) self->on_drop(std::vector<std::filesystem::path>(names, names + count));
    });
}

Window::~Window() {
    disconnect();
    if (window_ != nullptr) glfwDestroyWindow(window_);
    glfwTerminate();
}

render::ContextOptions Window::context_options() const {
    render::ContextOptions options;
    std::uint32_t count = 0;
    const char** names = glfwGetRequiredInstanceExtensions(&count);
    options.instance_extensions.assign(names, names + count);
    options.device_extensions = {"VK_KHR_swapchain"};
    options.can_present = [](VkInstance instance, VkPhysicalDevice device, std::uint32_t family) {
        return glfwGetPhysicalDevicePresentationSupport(instance, device, family) == GLFW_TRUE;
    };
    return options;
}

void Window::connect(render::VulkanContext& context) {
    context_ = &context;
    functions_ = std::make_unique<Functions>(context);
    context.check(glfwCreateWindowSurface(context.instance(), window_, nullptr, &surface_),
                  "make the window's surface");
    // The surface has no name: Mesa 22.3 takes it for an object of its own then, and crashes.
    ImGui_ImplGlfw_InitForVulkan(window_, true);
    glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int code, int action, int mods) {
        static_cast<Window*>(glfwGetWindowUserPointer(window))->hand_on(key, mods, [&] {
            ImGui_ImplGlfw_KeyCallback(window, key, code, action, mods);
        });
    });
    glfwSetMouseButtonCallback(window_, [](GLFWwindow* window, int button, int action, int mods) {
        static_cast<Window*>(glfwGetWindowUserPointer(window))
            ->hand_on(GLFW_KEY_UNKNOWN, mods,
                      [&] { ImGui_ImplGlfw_MouseButtonCallback(window, button, action, mods); });
    });
}

void Window::disconnect() {
    if (context_ == nullptr) return;
    context_->finish();
    ImGui_ImplGlfw_Shutdown();
    destroy_swapchain();
    for (VkSemaphore semaphore : acquired_)
        functions_->DestroySemaphore(context_->device(), semaphore, nullptr);
    acquired_.clear();
    functions_->DestroySurfaceKHR(context_->instance(), surface_, nullptr);
    surface_ = VK_NULL_HANDLE;
    extent_ = {};
    outdated_ = true;  // the next show() makes new images
    context_ = nullptr;
}

void Window::poll() { glfwPollEvents(); }
void Window::wait(double seconds) { glfwWaitEventsTimeout(std::max(seconds, 1e-4)); }
void Window::wake() { glfwPostEmptyEvent(); }
void Window::new_frame() { ImGui_ImplGlfw_NewFrame(); }
bool Window::closed() const { return glfwWindowShouldClose(window_) == GLFW_TRUE; }
void Window::keep_open() {
    glfwSetWindowShouldClose(window_, GLFW_FALSE);
    asked_to_close_ = true;
}
bool Window::is_shown() const {
    return glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == GLFW_FALSE &&
           glfwGetWindowAttrib(window_, GLFW_VISIBLE) == GLFW_TRUE && has_area();
}
void Window::restore() {
    glfwRestoreWindow(window_);
    glfwShowWindow(window_);
}
void Window::set_title(const std::string& title) { glfwSetWindowTitle(window_, title.c_str()); }

double Window::content_scale() const {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window_, &x, &y);
    return static_cast<double>(std::max(x, 1.0F));
}

int Window::width() const {
    int w = 0, h = 0;
    glfwGetFramebufferSize(window_, &w, &h);
    return w;
}

int Window::height() const {
    int w = 0, h = 0;
    glfwGetFramebufferSize(window_, &w, &h);
    return h;
}

void Window::destroy_swapchain() {
    for (const Shown& shown : images_)
        functions_->DestroySemaphore(context_->device(), shown.drawn, nullptr);
    images_.clear();
    if (swapchain_ != VK_NULL_HANDLE)
        functions_->DestroySwapchainKHR(context_->device(), swapchain_, nullptr);
    swapchain_ = VK_NULL_HANDLE;
}

void Window::make_swapchain(Canvas& canvas) {
    const Functions& vk = canvas.functions();
    VkDevice device = context_->device();
    context_->wait_idle();  // nothing may still be shown from the old one
    VkSurfaceCapabilitiesKHR facts{};
    context_->check(
        vk.GetPhysicalDeviceSurfaceCapabilitiesKHR(context_->physical_device(), surface_, &facts),
        "ask what the window can show");
    extent_ = facts.currentExtent;
    if (extent_.width == 0xffffffffU)
        extent_ = {static_cast<std::uint32_t>(width()), static_cast<std::uint32_t>(height())};
    if (extent_.width == 0 || extent_.height == 0) return;
    std::uint32_t count = 0;
    vk.GetPhysicalDeviceSurfaceFormatsKHR(context_->physical_device(), surface_, &count, nullptr);
    std::vector<VkSurfaceFormatKHR> formats(count);
    vk.GetPhysicalDeviceSurfaceFormatsKHR(context_->physical_device(), surface_, &count,
                                          formats.data());
    // The numbers drawn are sRGB already: they are not to be encoded once more.
    const auto found = std::ranges::find_if(formats, [](const VkSurfaceFormatKHR& f) {
        return f.format == VK_FORMAT_B8G8R8A8_UNORM || f.format == VK_FORMAT_R8G8B8A8_UNORM;
    });
    const VkSurfaceFormatKHR format = found != formats.end() ? *found : formats.at(0);

    VkSwapchainCreateInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR;
    info.surface = surface_;
    info.minImageCount = std::max(facts.minImageCount, 3U);
    if (facts.maxImageCount > 0)
        info.minImageCount = std::min(info.minImageCount, facts.maxImageCount);
    info.imageFormat = format.format;
    info.imageColorSpace = format.colorSpace;
    info.imageExtent = extent_;
    info.imageArrayLayers = 1;
    info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.imageSharingMode = VK_SHARING_MODE_EXCLUSIVE;
    info.preTransform = facts.currentTransform;
    info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
    info.clipped = VK_TRUE;
    info.oldSwapchain = swapchain_;
    VkSwapchainKHR fresh = VK_NULL_HANDLE;
    context_->check(vk.CreateSwapchainKHR(device, &info, nullptr, &fresh),
                    "make the window's images");
    destroy_swapchain();
    swapchain_ = fresh;
    context_->name(VK_OBJECT_TYPE_SWAPCHAIN_KHR, swapchain_, "window");
    context_->check(vk.GetSwapchainImagesKHR(device, swapchain_, &count, nullptr),
                    "get the window's images");
    std::vector<VkImage> images(count);
    context_->check(vk.GetSwapchainImagesKHR(device, swapchain_, &count, images.data()),
                    "get the window's images");
    const auto semaphore = [&](const char* name) {
        VkSemaphoreCreateInfo create{};
        create.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
        VkSemaphore made = VK_NULL_HANDLE;
        context_->check(vk.CreateSemaphore(device, &create, nullptr, &made), "make a semaphore");
        context_->name(VK_OBJECT_TYPE_SEMAPHORE, made, name);
        return made;
    };
    for (VkImage image : images) {
        context_->name(VK_OBJECT_TYPE_IMAGE, image, "window on the screen");
        images_.push_back({image, semaphore("window image drawn")});
    }
    // One more than can be acquired at once: a semaphore is used again only after its wait.
    for (VkSemaphore old : acquired_) vk.DestroySemaphore(device, old, nullptr);
    acquired_.clear();
    for (std::size_t k = 0; k <= images.size(); ++k)
        acquired_.push_back(semaphore("window image acquired"));
    next_acquired_ = 0;
    outdated_ = false;
}

void Window::show(Canvas& canvas, ImDrawData& data) {
    if (!has_area()) return;
    if (outdated_ || extent_.width != static_cast<std::uint32_t>(width()) ||
        extent_.height != static_cast<std::uint32_t>(height()))
        make_swapchain(canvas);
    if (extent_.width == 0 || extent_.height == 0) return;
    const Functions& vk = canvas.functions();
    VkSemaphore acquired = acquired_[next_acquired_];
    next_acquired_ = (next_acquired_ + 1) % acquired_.size();
    std::uint32_t index = 0;
    const VkResult result = vk.AcquireNextImageKHR(context_->device(), swapchain_, UINT64_MAX,
                                                   acquired, VK_NULL_HANDLE, &index);
    if (result == VK_ERROR_OUT_OF_DATE_KHR) {
        outdated_ = true;  // the next frame makes a new one
        canvas.draw(data);
        return;
    }
    if (result != VK_SUBOPTIMAL_KHR) context_->check(result, "get an image of the window");

    Canvas::Screen screen;
    screen.record = [&](VkCommandBuffer commands, VkImage drawn) {
        const VkImage shown = images_[index].image;
        render::record_barrier(*context_, commands, shown, render::Use::acquired,
                               render::Use::transfer_write);
        VkImageBlit region{};
        region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        region.srcOffsets[1] = {canvas.width(), canvas.height(), 1};
        region.dstOffsets[1] = {static_cast<int>(extent_.width), static_cast<int>(extent_.height),
                                1};
        vk.CmdBlitImage(commands, drawn, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, shown,
                        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region, VK_FILTER_NEAREST);
        render::record_barrier(*context_, commands, shown, render::Use::transfer_write,
                               render::Use::present);
    };
    VkSemaphoreSubmitInfo wait{};
    wait.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    wait.semaphore = acquired;
    wait.stageMask = VK_PIPELINE_STAGE_2_TRANSFER_BIT;  // as render::Use::acquired has it
    VkSemaphoreSubmitInfo signal = wait;
    signal.semaphore = images_[index].drawn;
    signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    screen.waits = {wait};
    screen.signals = {signal};
    canvas.draw(data, screen);

    VkPresentInfoKHR present{};
    present.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR;
    present.waitSemaphoreCount = 1;
    present.pWaitSemaphores = &images_[index].drawn;
    present.swapchainCount = 1;
    present.pSwapchains = &swapchain_;
    present.pImageIndices = &index;
    const VkResult presented = vk.QueuePresentKHR(context_->queue(), &present);
    if (presented == VK_ERROR_OUT_OF_DATE_KHR || presented == VK_SUBOPTIMAL_KHR)
        outdated_ = true;
    else
        context_->check(presented, "show the window's image");
}

}  // namespace hindcast::gui
