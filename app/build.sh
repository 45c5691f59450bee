# Shared by app/run, tests/run and .ci/run; source it, then call
#
#   install_missing PACKAGE...   installs Debian packages that are not there (as root), or says which
#   build PRESET [TARGET...]     configures if needed and builds what changed, into build/PRESET; with
#                                HINDCAST_TESTS=ON in the environment the tests too
#   provide_external             puts the window's libraries into build/external; before `build`
#   provide_python               makes build/python_env with what the Python module and its tests need,
#                                and has `build` make the module; before `build`
#   provide_mujoco_library       puts MuJoCo's library where the program finds it
#   provide_mujoco               puts MuJoCo and models of robots, for tests, into build/mujoco and
#                                build/robot_models
#   provide_pinocchio            puts Pinocchio, for tests, into build/pinocchio; after provide_python
#   provide_torch                sets HINDCAST_TORCH to a folder with PyTorch, for --full; after provide_python
#   provide_nvrtc                sets HINDCAST_TEST_NVRTC if the machine has no NVRTC; after `build`
#
# All progress goes to the error stream. The caller has set -euo pipefail.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
# A clone in another folder finds the same entries in the compiler cache: its paths are relative.
export CCACHE_BASEDIR=$root

# What the program needs to be built and to run. ccache and mold only make building faster.
build_packages=(
    cmake ninja-build g++ ccache mold
    libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libnlopt-dev libnlopt-cxx-dev libeigen3-dev
    libmuparser-dev libxxhash-dev libassimp-dev zlib1g-dev libllvm19 llvm-19-dev
    libvulkan-dev glslang-tools libglm-dev libpng-dev
    libx11-dev libxrandr-dev libxinerama-dev libxcursor-dev libxi-dev
    libvulkan1 mesa-vulkan-drivers ffmpeg # mesa's draws on the processor where there is no other
)
test_packages=(
    doctest-dev libbenchmark-dev libmpfr-dev libgmp-dev vulkan-validationlayers
    xvfb xauth xdotool
)

# NVRTC for machines without the CUDA toolkit: PyPI's package, x86-64.
nvrtc_package="nvidia-cuda-nvrtc==13.5.37"
nvrtc_sha256=86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc

# Dear ImGui (docking), ImPlot, ImGuizmo, its test engine, a text editor and GLFW, as sources: PyPI's
# source distribution, of which only these folders are unpacked.
external_package="imgui-bundle==1.93.0"
external_sha256=10ad1dab8258a6787b4f07bb926b08d0efc648a7906242568c8dd778c5e719bf
external_parts=(
    external/imgui/imgui external/implot/implot external/ImGuizmo/ImGuizmo
    external/imgui_test_engine/imgui_test_engine external/ImGuiColorTextEdit/ImGuiColorTextEdit
    external/glfw/glfw bindings/imgui_bundle/assets/fonts
)

# MuJoCo, whose compiler reads models of robots. The wheel is taken for its library, its headers (of
# which engine/robot/layout is written) and, in tests, its Python package.
mujoco_package="mujoco-core==4.0.1"
mujoco_sha256=be28c0c7587347ef996b4de0487264e9da296282082b092bae211a9163e9aed6
mujoco_library=libmujoco.so.4.0.1
# Models for tests: those of MJX's own tests, and URDFs.
mjx_package="mujoco-mjx==3.17.0"
mjx_sha256=96e4e009dfac1da2c35494a61ccbdeccecef39c6c8fec62a259c18a0b35ddd02
robots_package="example-robot-data==6.0.0"
robots_sha256=424092a8093411ac2cd4ccc0572382bfc6b5eb4833aa984ef5e671dd67cd0a6e

fail() {
    echo "$(basename "$(dirname "$0")")/$(basename "$0"): $*" >&2
    exit 1
}

install_missing() {
    local missing=() package
    # On other systems CMake names what is missing; app/manual/getting_started.md lists the packages.
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
    local installed
    installed=" $(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
        awk '$1 == "installed" { print $2 }' | tr '\n' ' ')" || true
    for package in "$@"; do
        [[ $installed == *" $package "* ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -eq 0 ]] && return 0
    if [[ $(id -u) -ne 0 ]]; then
        fail "missing packages; install them with: sudo apt-get install ${missing[*]}"
    fi
    echo "installing ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    {
        apt-get update -q -o Acquire::Retries=3 &&
            apt-get install -q -y --no-install-recommends -o Acquire::Retries=3 "${missing[@]}"
    } </dev/null >&2 || fail "apt-get could not install: ${missing[*]}"
}

build() {
    local preset=$1 targets=()
    shift
    [[ $# -gt 0 ]] && targets=(--target "$@")
    mkdir -p "build/$preset"
    (
        # Two builds in one folder would spoil each other: the second one waits.
        if command -v flock >/dev/null; then flock 9; fi
        local tests=()
        if [[ ${HINDCAST_TESTS-} == ON ]] &&
            ! grep -qs '^HINDCAST_TESTS:BOOL=ON' "build/$preset/CMakeCache.txt"; then
            tests=(-DHINDCAST_TESTS=ON)
        fi
        if [[ -n ${HINDCAST_PYTHON-} ]] &&
            ! grep -qs "^Python_EXECUTABLE:.*=$HINDCAST_PYTHON\$" "build/$preset/CMakeCache.txt"; then
            tests+=(-DHINDCAST_PYTHON=ON "-DPython_EXECUTABLE=$HINDCAST_PYTHON")
        fi
        if [[ ! -f build/$preset/build.ninja || ${#tests[@]} -gt 0 ]]; then
            cmake --preset "$preset" "${tests[@]}" >&2 ||
                fail "configuring '$preset' failed, see above"
        fi
        cmake --build --preset "$preset" "${targets[@]}" >&2 ||
            fail "building '$preset' failed, see above"
    ) 9>"build/$preset/.lock" </dev/null
}

# Shared by all presets, fetched once. HINDCAST_EXTERNAL names a folder that has them already;
# without a network CMake says what to do.
provide_external() {
    [[ -z ${HINDCAST_EXTERNAL-} ]] || return 0
    local folder=$root/build/external
    mkdir -p "$folder"
    (
        if command -v flock >/dev/null; then flock 9; fi
        [[ ! -f $folder/$external_sha256 ]] || exit 0
        if [[ $(id -u) -eq 0 ]] && ! python3 -m pip --version >/dev/null 2>&1; then
            install_missing python3-pip
        fi
        echo "downloading $external_package into build/external" >&2
        rm -rf "$folder/download" "$folder/external" "$folder/bindings"
        # pip checks the hash, then reads the archive's description with the tools that it names.
        if ! python3 -m pip download --quiet --no-deps --no-binary imgui-bundle --require-hashes \
            --dest "$folder/download" --requirement \
            <(echo "$external_package --hash=sha256:$external_sha256") </dev/null >&2; then
            echo "$external_package could not be downloaded" >&2
            exit 0
        fi
        local archive=("$folder"/download/*.tar.gz) top=imgui_bundle-${external_package#*==}
        tar --extract --gzip --file "${archive[0]}" --directory "$folder" --strip-components 1 \
            --no-same-owner "${external_parts[@]/#/$top/}" ||
            fail "${archive[0]} could not be unpacked"
        rm -rf "$folder/download"
        touch "$folder/$external_sha256"
    ) 9>"$folder/.lock"
}

# Without it the tests of the Python module are skipped. They need no more than what is here: the
# module's own users install it with pip.
provide_python() {
    local folder=$root/build/python_env list=$root/app/python/tests/requirements.txt
    install_missing python3-dev python3-venv
    if ! cmp -s "$list" "$folder/requirements.txt"; then
        echo "downloading Python packages into build/python_env" >&2
        rm -rf "$folder"
        if ! python3 -m venv "$folder" >&2 ||
            ! "$folder/bin/python" -m pip install --quiet --only-binary=:all: --require-hashes \
                --requirement "$list" </dev/null >&2; then
            echo "Python packages could not be had; tests of the Python module are skipped" >&2
            rm -rf "$folder"
            return 0
        fi
        cp "$list" "$folder/requirements.txt"
    fi
    export HINDCAST_PYTHON=$folder/bin/python
}

# fetch_wheel PACKAGE SHA256 FOLDER PATTERN...: what matches of the wheel, for x86-64, in FOLDER, unless
# it is there. Fails with a message where it cannot be had.
fetch_wheel() {
    local package=$1 sha256=$2 folder=$3
    shift 3
    [[ ! -f $folder/$sha256 ]] || return 0
    if [[ $(id -u) -eq 0 ]] && ! python3 -m pip --version >/dev/null 2>&1; then
        install_missing python3-pip
    fi
    echo "downloading $package into ${folder#"$root"/}" >&2
    rm -rf "$folder" "$folder.part" "$folder.wheel"
    if ! python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 \
        --implementation cp --platform manylinux_2_28_x86_64 --require-hashes --dest "$folder.wheel" \
        --requirement <(echo "$package --hash=sha256:$sha256") </dev/null >&2; then
        echo "$package could not be downloaded" >&2
        rm -rf "$folder.wheel"
        return 1
    fi
    python3 - "$folder.wheel" "$folder.part" "$@" <<'END' || fail "$package could not be unpacked"
import fnmatch, pathlib, sys, zipfile
source, target, *patterns = sys.argv[1:]
for wheel in pathlib.Path(source).iterdir():
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target, [name for name in archive.namelist()
                                    if any(fnmatch.fnmatch(name, p) for p in patterns)])
END
    rm -rf "$folder.wheel"
    touch "$folder.part/$sha256"
    mv "$folder.part" "$folder"
}

# Into the code cache's folder (engine/backend/jit/code_cache.hpp), for this user. Without it the program
# builds and runs all scenes but those of robots and rigid shapes, which name the remedy.
provide_mujoco_library() {
    local folder=${HINDCAST_CACHE-${XDG_CACHE_HOME:-$HOME/.cache}/hindcast} part
    local tested=$root/build/mujoco/mujoco/$mujoco_library
    [[ -z ${HINDCAST_MUJOCO-} ]] || return 0
    if [[ -z $folder || $(uname -m) != x86_64 ]]; then
        echo "MuJoCo's library is not fetched: $([[ -n $folder ]] && echo "it is for x86-64 only" ||
            echo "HINDCAST_CACHE is empty"); for robots and rigid shapes set HINDCAST_MUJOCO to yours" >&2
        return 0
    fi
    [[ ! -f $folder/$mujoco_library ]] || return 0
    if ! mkdir -p "$folder" || ! part=$(mktemp -d "$folder/mujoco.XXXXXX"); then
        echo "going on without MuJoCo's library: nothing can be written to $folder" >&2
        return 0
    fi
    # What the tests have is not downloaded again.
    if [[ -f $tested ]]; then
        cp "$tested" "$part/"
    elif fetch_wheel "$mujoco_package" "$mujoco_sha256" "$part/wheel" "mujoco/$mujoco_library"; then
        mv "$part/wheel/mujoco/$mujoco_library" "$part/"
    else
        echo "going on without MuJoCo's library: scenes of robots and rigid shapes will not open until" \
            "app/run has fetched it" >&2
    fi
    [[ ! -f $part/$mujoco_library ]] || mv "$part/$mujoco_library" "$folder/"
    rm -rf "$part"
}

# Without them the tests that need MuJoCo or these models skip.
provide_mujoco() {
    [[ $(uname -m) == x86_64 ]] || return 0
    local core=$root/build/mujoco models=$root/build/robot_models share=cmeel.prefix/share
    mkdir -p "$models"
    fetch_wheel "$mujoco_package" "$mujoco_sha256" "$core" 'mujoco/*' ||
        echo "tests that need MuJoCo are skipped" >&2
    fetch_wheel "$mjx_package" "$mjx_sha256" "$models/mjx" 'mujoco/mjx/test_data/*' ||
        echo "tests of its models are skipped" >&2
    fetch_wheel "$robots_package" "$robots_sha256" "$models/robots" \
        "$share/example-robot-data/robots/"{{double_pendulum,bolt,solo,go2,panda,simple_humanoid}_description,talos_data}'/*' ||
        echo "tests of its models are skipped" >&2
}

# Pinocchio, which has derivatives of robots too, beside what build/python_env has: without it their test
# skips. 80 MB to download, 180 MB on disk without headers and archives.
provide_pinocchio() {
    local folder=$root/build/pinocchio list=$root/app/python/tests/requirements_pinocchio.txt
    [[ -n ${HINDCAST_PYTHON-} && $(uname -m) == x86_64 ]] || return 0
    ! cmp -s "$list" "$folder/requirements.txt" || return 0
    echo "downloading Pinocchio into build/pinocchio" >&2
    rm -rf "$folder" "$folder.part"
    if ! "$HINDCAST_PYTHON" -m pip install --quiet --no-deps --only-binary=:all: --require-hashes \
        --root-user-action=ignore --target "$folder.part" --requirement "$list" </dev/null >&2; then
        echo "Pinocchio could not be downloaded; its test is skipped" >&2
        rm -rf "$folder.part"
        return 0
    fi
    rm -rf "$folder.part"/{bin,cmeel.prefix/{bin,include,share,lib/cmake,lib/pkgconfig}}
    find "$folder.part" -name '*.a' -delete
    cp "$list" "$folder.part/requirements.txt"
    mv "$folder.part" "$folder"
}

# PyTorch for the tests of hindcast.torch, beside what build/python_env has: gigabytes, so that only
# --full brings it (requirements_full.txt has the figures). pip's cache has its wheels the next time.
provide_torch() {
    local folder=$root/build/torch list=$root/app/python/tests/requirements_full.txt
    [[ -n ${HINDCAST_PYTHON-} && $(uname -m) == x86_64 ]] || return 0
    if ! cmp -s "$list" "$folder/requirements.txt"; then
        echo "downloading PyTorch into build/torch" >&2
        rm -rf "$folder" "$folder.part"
        if ! "$HINDCAST_PYTHON" -m pip install --quiet --no-deps --only-binary=:all: \
            --require-hashes --root-user-action=ignore --target "$folder.part" \
            --requirement "$list" </dev/null >&2; then
            echo "PyTorch could not be downloaded; its tests are skipped" >&2
            rm -rf "$folder.part"
            return 0
        fi
        cp "$list" "$folder.part/requirements.txt"
        mv "$folder.part" "$folder"
    fi
    export HINDCAST_TORCH=$folder
}

# Without it the tests that need NVRTC skip, so that a machine without a network passes all others.
provide_nvrtc() {
    [[ -z ${HINDCAST_TEST_NVRTC-} && $(uname -m) == x86_64 ]] || return 0
    local folder=$root/build/nvrtc library=nvidia/cu13/lib/libnvrtc.so.13 info
    info=$(env -u HINDCAST_NVRTC build/release/hindcast info)
    grep -q '^  NVRTC  *13\.' <<<"$info" && return 0
    if [[ ! -f $folder/$library ]]; then
        if [[ $(id -u) -eq 0 ]] && ! python3 -m pip --version >/dev/null 2>&1; then
            install_missing python3-pip
        fi
        echo "downloading $nvrtc_package into build/nvrtc" >&2
        rm -rf "$folder" "$folder.part"
        if ! python3 -m pip install --quiet --no-deps --only-binary=:all: --require-hashes \
            --root-user-action=ignore --target "$folder.part" --requirement \
            <(echo "$nvrtc_package --hash=sha256:$nvrtc_sha256") </dev/null >&2; then
            echo "NVRTC could not be downloaded; its tests are skipped" >&2
            return 0
        fi
        mv "$folder.part" "$folder"
    fi
    export HINDCAST_TEST_NVRTC=$folder/$library
}
