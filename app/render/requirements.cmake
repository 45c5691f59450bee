# What the renderer is built with. Call hindcast_report_missing() after it, or do without the renderer.
hindcast_target(hindcast_vulkan_headers vulkan/vulkan_raii.hpp "" libvulkan-dev)
hindcast_target(hindcast_glm glm/glm.hpp "" libglm-dev)
hindcast_target(hindcast_png png.h png libpng-dev)
find_program(HINDCAST_GLSLANG glslangValidator)
mark_as_advanced(HINDCAST_GLSLANG)
if(NOT HINDCAST_GLSLANG)
    hindcast_miss("glslangValidator" glslang-tools)
endif()
