# All that tests/run does without --full, in three lines of work. Two of them have half of the unit tests each, drawn
# by a fixed order, so that neither has all of the long ones. Sourced by tests/run.

# The halves, of the tests that the filters in "${filters[@]}" leave.
split_unit_tests() {
    local tests order=(--order-by=rand --rand-seed=1)
    tests=$(build/release/hindcast_tests --count "${filters[@]}" | grep -Eo '[0-9]+$' | tail -n 1)
    first_half=("${order[@]}" --last=$((tests / 2))) second_half=("${order[@]}" --first=$((tests / 2 + 1)))
    [[ $tests -ge 2 ]] || first_half=() second_half=()
}

quick_first() {
    count "unit tests, guard pages at the front" \
        env HINDCAST_GUARD_PAGES=front build/release/hindcast_tests "${first_half[@]}" "${filters[@]}"
    count "scene tests, guard pages at the end" \
        env HINDCAST_GUARD_PAGES=end HINDCAST_MUJOCO="$mujoco" build/release/hindcast test scenes/
    # The same figures and hashes.
    cuda_scenes f32
    # The script for machines with a GPU.
    count "tests/gpu/run" python3 tests/gpu/test_prove.py
}

# Most of the time these wait: for frames, for the simulation, for fields that blink.
quick_window() {
    count "renderer and window tests" "${screen[@]}" build/release/hindcast_view_tests "${filters[@]}"
    count "real keyboard and mouse" "${screen[@]}" \
        tests/gui/smoke.sh build/release/hindcast build/release/gui
}

quick_second() {
    count "unit tests, guard pages at the end" \
        env HINDCAST_GUARD_PAGES=end build/release/hindcast_tests "${second_half[@]}" "${filters[@]}"
    if [[ -n ${HINDCAST_PYTHON-} ]]; then
        count "Python" "${python_tests[@]}"
        count "structure" "${HINDCAST_PYTHON}" tests/structure/count --check
    else
        skip "Python and structure: packages could not be had"
    fi
    count "parts of --full" tests/parts/test_parts
    count "app/run and MuJoCo's library" tests/parts/test_app_run
    count "README and manual" env HINDCAST_PYTHON="${HINDCAST_PYTHON-}" tests/pages
    count "random scenes, guard pages at both sides in turn" tests/fuzz/scenes --seconds 20
    random_robots --seconds 20
}

# scene tests on CUDA: cuda_scenes PRECISION
cuda_scenes() {
    count "scene tests on CUDA in $1, driver in software, guard pages at the front" \
        env HINDCAST_GUARD_PAGES=front HINDCAST_CUDA_DRIVER="$driver" HINDCAST_NVRTC="$driver" \
        HINDCAST_MUJOCO="$mujoco" build/release/hindcast test scenes/ --device cuda --precision "$1"
}

random_robots() {
    if [[ -n ${HINDCAST_PYTHON-} && -e build/mujoco/mujoco ]]; then
        count "random robots" env PYTHONPATH="$PWD/build/release/python" HINDCAST_MUJOCO="$mujoco" \
            "$HINDCAST_PYTHON" tests/fuzz/robots "$@"
    else
        skip "random robots: MuJoCo or Python's packages could not be had"
    fi
}
