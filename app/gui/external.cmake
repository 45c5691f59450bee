# The window's libraries, from sources that are not ours: static, without warnings.
#
#   hindcast_imgui             Dear ImGui with its GLFW and Vulkan back ends
#   hindcast_imgui_testable    the same with the hooks of imgui_test_engine, and that engine
#   hindcast_widgets           ImPlot, ImGuizmo, the text editor: work with either of these
#   hindcast_imgui_headers     what our sources see; a program links one of the two above
#
# Only imgui's own sources see whether there are hooks: no type that others use depends on it.

set(HINDCAST_EXTERNAL "${PROJECT_SOURCE_DIR}/build/external" CACHE PATH
    "Where imgui-bundle's sources are unpacked")
if(DEFINED ENV{HINDCAST_EXTERNAL})
    set(HINDCAST_EXTERNAL "$ENV{HINDCAST_EXTERNAL}")
endif()
if(NOT EXISTS ${HINDCAST_EXTERNAL}/external/imgui/imgui/imgui.h)
    message(FATAL_ERROR "The window's libraries are not in ${HINDCAST_EXTERNAL}.\n"
        "app/run and tests/run fetch them. Without a network: unpack the source distribution "
        "imgui-bundle 1.93.0 of pypi.org and name its folder with -DHINDCAST_EXTERNAL=FOLDER, or "
        "build without the window: -DHINDCAST_VIEW=OFF")
endif()
set(external ${HINDCAST_EXTERNAL}/external)
set(imgui ${external}/imgui/imgui)
set(test_engine ${external}/imgui_test_engine/imgui_test_engine/imgui_test_engine)

find_package(Vulkan REQUIRED)
foreach(header X11/Xlib.h X11/extensions/Xrandr.h X11/extensions/Xinerama.h X11/Xcursor/Xcursor.h
        X11/extensions/XInput2.h)
    find_path(HINDCAST_X11_INCLUDE_${header} ${header})
    mark_as_advanced(HINDCAST_X11_INCLUDE_${header})
    if(NOT HINDCAST_X11_INCLUDE_${header})
        message(FATAL_ERROR "${header} is missing, for windows: apt-get install libx11-dev "
            "libxrandr-dev libxinerama-dev libxcursor-dev libxi-dev; or build without the "
            "window: -DHINDCAST_VIEW=OFF")
    endif()
endforeach()

# hindcast_external(name source...): a static library of other people's sources.
function(hindcast_external name)
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
    # Undefined behavior is looked for in our sources: with its checks ImPlot compiles for a
    # quarter of an hour.
    target_compile_options(${name} PRIVATE -w $<$<CONFIG:Asan>:-fno-sanitize=undefined>)
    set_target_properties(${name} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
endfunction()

# ---- GLFW: opens X11 itself at run time -------------------------------------------------------

set(glfw ${external}/glfw/glfw)
set(glfw_sources context init input monitor platform vulkan window egl_context osmesa_context
    null_init null_monitor null_window null_joystick posix_time posix_thread posix_module
    posix_poll x11_init x11_monitor x11_window xkb_unicode glx_context linux_joystick)
list(TRANSFORM glfw_sources PREPEND ${glfw}/src/)
list(TRANSFORM glfw_sources APPEND .c)
hindcast_external(hindcast_glfw ${glfw_sources})
target_compile_definitions(hindcast_glfw PRIVATE _GLFW_X11 _DEFAULT_SOURCE
    INTERFACE GLFW_INCLUDE_NONE)
target_include_directories(hindcast_glfw SYSTEM PUBLIC ${glfw}/include)
target_link_libraries(hindcast_glfw PUBLIC Threads::Threads ${CMAKE_DL_LIBS} m rt)

# ---- Dear ImGui -------------------------------------------------------------------------------

add_library(hindcast_imgui_headers INTERFACE)
target_include_directories(hindcast_imgui_headers SYSTEM INTERFACE ${imgui} ${imgui}/backends
    ${imgui}/misc/cpp ${external}/implot/implot ${external}/ImGuizmo/ImGuizmo/src
    ${external}/ImGuiColorTextEdit/ImGuiColorTextEdit)
target_compile_definitions(hindcast_imgui_headers INTERFACE IMGUI_DISABLE_OBSOLETE_FUNCTIONS
    IMGUI_DISABLE_DEMO_WINDOWS IMGUI_IMPL_VULKAN_NO_PROTOTYPES)
target_link_libraries(hindcast_imgui_headers INTERFACE hindcast_glfw Vulkan::Headers)

set(imgui_sources ${imgui}/imgui.cpp ${imgui}/imgui_draw.cpp ${imgui}/imgui_tables.cpp
    ${imgui}/imgui_widgets.cpp ${imgui}/imgui_demo.cpp ${imgui}/imgui_stacklayout.cpp
    ${imgui}/misc/cpp/imgui_stdlib.cpp ${imgui}/backends/imgui_impl_glfw.cpp
    ${imgui}/backends/imgui_impl_vulkan.cpp)
hindcast_external(hindcast_imgui ${imgui_sources})
target_link_libraries(hindcast_imgui PUBLIC hindcast_imgui_headers)

hindcast_external(hindcast_imgui_testable ${imgui_sources}
    ${test_engine}/imgui_capture_tool.cpp ${test_engine}/imgui_te_context.cpp
    ${test_engine}/imgui_te_coroutine.cpp ${test_engine}/imgui_te_engine.cpp
    ${test_engine}/imgui_te_exporters.cpp ${test_engine}/imgui_te_perftool.cpp
    ${test_engine}/imgui_te_python_gil.cpp ${test_engine}/imgui_te_ui.cpp
    ${test_engine}/imgui_te_utils.cpp)
target_include_directories(hindcast_imgui_testable SYSTEM PUBLIC ${test_engine})
target_compile_definitions(hindcast_imgui_testable PUBLIC IMGUI_ENABLE_TEST_ENGINE
    IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL=1 IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION=1
    IMGUI_TEST_ENGINE_ENABLE_CAPTURE=0)
target_link_libraries(hindcast_imgui_testable PUBLIC hindcast_imgui_headers)

# ---- widgets ----------------------------------------------------------------------------------

hindcast_external(hindcast_widgets ${external}/implot/implot/implot.cpp
    ${external}/implot/implot/implot_items.cpp ${external}/ImGuizmo/ImGuizmo/src/ImGuizmo.cpp
    ${external}/ImGuiColorTextEdit/ImGuiColorTextEdit/TextEditor.cpp)
target_link_libraries(hindcast_widgets PUBLIC hindcast_imgui_headers)
# Plots of ours are of these types; for all ten of C++ ImPlot compiles twelve times as long.
target_compile_definitions(hindcast_widgets PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(float)(double)")

# ---- fonts: inside the program ------------------------------------------------------------------

set(fonts ${HINDCAST_EXTERNAL}/bindings/imgui_bundle/assets/fonts)
set(font_source ${CMAKE_CURRENT_BINARY_DIR}/fonts.cpp)
set(font_text "// Generated by app/gui/external.cmake: the fonts' files as data.\n")
foreach(pair regular=Roboto/Roboto-Regular.ttf bold=Roboto/Roboto-Bold.ttf
        fixed=Inconsolata-Medium.ttf icons=fontawesome-webfont.ttf)
    string(REGEX MATCH "^(.*)=(.*)$" unused ${pair})
    set(symbol hindcast_font_${CMAKE_MATCH_1})
    set(file ${fonts}/${CMAKE_MATCH_2})
    string(APPEND font_text "asm(\".section .rodata\\n.balign 16\\n.global ${symbol}\\n"
        "${symbol}:\\n.incbin \\\"${file}\\\"\\n.global ${symbol}_end\\n${symbol}_end:\\n"
        ".byte 0\\n.text\\n\");\n")
endforeach()
file(CONFIGURE OUTPUT ${font_source} CONTENT "${font_text}" @ONLY)
