# Shared by app/run, tests/run and .ci/run; source it, then call
#
#   install_missing PACKAGE...   installs Debian packages that are not there (as root), or says which
#   build PRESET [TARGET...]     configures if needed and builds what changed, into build/PRESET
#
# All progress goes to the error stream. The caller has set -euo pipefail.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

# What the program needs to be built and to run. ccache and mold only make building faster.
build_packages=(
    cmake ninja-build g++ ccache mold
    libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libnlopt-dev libnlopt-cxx-dev
    libmuparser-dev libxxhash-dev libllvm19 llvm-19-dev
)
test_packages=(doctest-dev libbenchmark-dev libmpfr-dev libgmp-dev)

fail() {
    echo "$(basename "$(dirname "$0")")/$(basename "$0"): $*" >&2
    exit 1
}

install_missing() {
    local missing=() package
    # On other systems CMake names what is missing; README.md lists the packages.
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
        if [[ ! -f build/$preset/build.ninja ]]; then
            cmake --preset "$preset" >&2 || fail "configuring '$preset' failed, see above"
        fi
        cmake --build --preset "$preset" "${targets[@]}" >&2 ||
            fail "building '$preset' failed, see above"
    ) 9>"build/$preset/.lock" </dev/null
}
