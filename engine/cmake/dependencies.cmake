# The libraries that the engine needs, found in one place for the build and for the installed package.
#
# Every miss is collected and reported once, with the Debian package that brings it. Call
# hindcast_report_missing() after the last search. Each library ends as an imported target, so the
# installed package names the same targets on the machine where it is used.

set(HINDCAST_MISSING "")

# hindcast_miss("what" package...): remember that something was not found.
function(hindcast_miss what)
    string(REPLACE ";" " " packages "${ARGN}")
    set(HINDCAST_MISSING "${HINDCAST_MISSING}\n  ${what}: apt-get install ${packages}" PARENT_SCOPE)
endfunction()

function(hindcast_report_missing)
    if(HINDCAST_MISSING)
        message(FATAL_ERROR "Hindcast cannot be built, these are missing:${HINDCAST_MISSING}\n"
            "The names are Debian's; app/manual/getting_started.md lists them. app/run installs them on Debian.")
    endif()
endfunction()

# hindcast_target(NAME header library package...): an imported target NAME from plain files, for
# libraries without a usable CMake package. An empty library name means headers only.
macro(hindcast_target name header library)
    if(NOT TARGET ${name})
        string(MAKE_C_IDENTIFIER "${name}" _id)
        find_path(HINDCAST_${_id}_INCLUDE ${header} HINTS ${HINDCAST_HINTS})
        mark_as_advanced(HINDCAST_${_id}_INCLUDE)
        set(_found ${HINDCAST_${_id}_INCLUDE})
        if(_found AND NOT "${library}" STREQUAL "")
            find_library(HINDCAST_${_id}_LIBRARY ${library})
            mark_as_advanced(HINDCAST_${_id}_LIBRARY)
            set(_found ${HINDCAST_${_id}_LIBRARY})
        endif()
        if(NOT _found)
            hindcast_miss("${header}" ${ARGN})
        else()
            add_library(${name} INTERFACE IMPORTED)
            target_include_directories(${name} SYSTEM INTERFACE ${HINDCAST_${_id}_INCLUDE})
            if(NOT "${library}" STREQUAL "")
                target_link_libraries(${name} INTERFACE ${HINDCAST_${_id}_LIBRARY})
            endif()
        endif()
    endif()
endmacro()

# hindcast_package(Name target package...): a CMake package that brings the target.
macro(hindcast_package name target)
    if(NOT TARGET ${target})
        find_package(${name} QUIET)
        if(NOT TARGET ${target})
            hindcast_miss("${name}" ${ARGN})
        endif()
    endif()
endmacro()

hindcast_package(Threads Threads::Threads libc6-dev)
hindcast_package(fmt fmt::fmt libfmt-dev)
hindcast_package(spdlog spdlog::spdlog libspdlog-dev)
hindcast_package(nlohmann_json nlohmann_json::nlohmann_json nlohmann-json3-dev)
hindcast_package(muparser muparser::muparser libmuparser-dev)
hindcast_target(hindcast_assimp assimp/Importer.hpp assimp libassimp-dev)
hindcast_target(hindcast_nlopt nlopt.hpp nlopt libnlopt-cxx-dev libnlopt-dev)
hindcast_target(hindcast_xxhash xxhash.h "" libxxhash-dev)
hindcast_target(hindcast_zlib zlib.h z zlib1g-dev)
