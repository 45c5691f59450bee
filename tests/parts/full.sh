# The parts of tests/run --full. Each takes at most 45 minutes on two idle cores and leaves a record in
# build/full/NAME.json: the commit, the counts, the seconds. Sourced by tests/run.
#
# A part is a row of the table below and a function part_NAME, with - as _; what follows the last - may be
# its argument (share K of N). A new test that is long with HINDCAST_FULL goes into a part by its file.

records=$root/build/full
at_most=2700 # seconds of a part

part_table() {
    cat <<'TABLE'
quick              all that tests/run does without --full
guards             unit tests with the guard pages at the other side, window tests with them
cuda-scenes        scene tests on the CUDA driver in software in f64; all of tests/gpu/run on it
sweeps             HINDCAST_FULL: damaged documents, random drops and programs, passes alone, collisions in f32, CUDA kernels
kernels            HINDCAST_FULL: 40 000 random kernels, every f32 argument of the elementary functions
fuzz-1             half an hour of random scenes and of random robots
fuzz-2             the same with another seed
window             HINDCAST_FULL: memory over 40 minutes of a session, every panel in all sizes and themes, every field
python             the Python module with PyTorch, on every robot; its wheel
pages              commands of README and manual that take longer than five seconds
asan-build         address and undefined-behavior sanitizers: the build
asan-session       ... tests of sessions, compiled
asan-scenes        ... tests of scenes and identification, compiled
asan-physics       ... tests of physics, compiled
asan-robots        ... tests of robots, compiled
asan-collision     ... tests of their collisions and sensors, compiled
asan-gradient      ... tests of gradients, compiled
asan-other         ... all other unit tests, on the interpreter
asan-window-1/4    ... tests of renderer and window, a quarter
asan-window-2/4
asan-window-3/4
asan-window-4/4
tsan-build         thread sanitizer: the build
tsan-session       ... as with the address sanitizer
tsan-scenes
tsan-physics
tsan-robots
tsan-collision
tsan-gradient
tsan-other
tidy-build         every source by itself, not in groups, for clang-tidy
tidy               clang-tidy over all sources that changed since they were clean
TABLE
}
parts() { part_table | awk '{ print $1 }'; }

# ---- records -----------------------------------------------------------------------------------

# The commit, with "+changes" where the tree has others than committed files, and "unknown" without git.
# Only a record of a commit as it is counts later.
state_of_tree() {
    local git=(git -c safe.directory='*' -C "$root") commit
    commit=$("${git[@]}" rev-parse HEAD 2>/dev/null) || { echo unknown && return; }
    [[ -z $("${git[@]}" status --porcelain 2>/dev/null) ]] || commit+=+changes
    echo "$commit"
}

record_of() { echo "$records/${1//\//-of-}.json"; }

# field PART KEY: of its record; nothing without one.
field() {
    sed -nE "s/^ *\"$2\": \"?([^\",]*)\"?,?$/\1/p" "$(record_of "$1")" 2>/dev/null
}

write_record() { # PART SECONDS
    local file
    file=$(record_of "$1")
    mkdir -p "$records"
    add_up
    cat >"$file.new" <<JSON
{
    "part": "$1",
    "commit": "$tree",
    "ended": "$(date -u +%FT%TZ)",
    "seconds": $2,
    "passed": $passed,
    "failed": $failed,
    "skipped": $skipped
}
JSON
    mv "$file.new" "$file"
}

is_current() { [[ $(field "$1" commit) == "$tree" && $tree =~ ^[0-9a-f]+$ ]]; }
is_done() { is_current "$1" && [[ $(field "$1" failed) == 0 && $(field "$1" passed) -gt 0 ]]; }

# One line of the summary; adds to the sums passed, failed and skipped.
list_part() { # PART
    local seconds
    if ! is_recorded "$1"; then
        printf '%-20s not run\n' "$1"
        return
    fi
    seconds=$(field "$1" seconds)
    printf '%-20s %-7s %6d passed %4d failed %4d skipped %5d.%d min%s\n' "$1" \
        "$([[ $(field "$1" failed) == 0 ]] && echo passed || echo FAILED)" "$(field "$1" passed)" \
        "$(field "$1" failed)" "$(field "$1" skipped)" $((seconds / 60)) $((seconds % 60 / 6)) \
        "$([[ $seconds -le $at_most ]] || echo ", more than 45: split it")"
}
# In this call, or at this commit by an earlier one.
is_recorded() { [[ " ${ran[*]-} " == *" $1 "* ]] || is_current "$1"; }

list_parts() {
    local name about
    while read -r name about; do
        list_part "$name"
        [[ -z $about ]] || printf '%-20s   %s\n' "" "$about"
    done < <(part_table)
}

# ---- running -----------------------------------------------------------------------------------

run_part() { # PART
    local name=$1 began=$SECONDS share='' function
    function=part_${name//-/_}
    if [[ $name == */* ]]; then
        share=${name##*-}
        function=part_$(tr - _ <<<"${name%-*}")
    fi
    echo "==== part $name"
    : >"$results/counts"
    : >"$results/failures"
    "$function" "$share"
    write_record "$name" $((SECONDS - began))
    sed "/^\$/d; s|^|$name: |" "$results/failures" >>"$results/all_failures"
    ran+=("$name")
    echo "==== part $name: $(list_part "$name")"
}

# run_parts PART...: these, whatever is recorded of them; all that are not done where none is named.
run_parts() {
    local name all=() sum_passed=0 sum_failed=0 sum_skipped=0 missing=0
    ran=()
    : >"$results/all_failures"
    mapfile -t all < <(parts)
    if [[ $# -gt 0 ]]; then
        for name in "$@"; do
            [[ " ${all[*]} " == *" $name "* ]] || fail "there is no part '$name'; see tests/run --list-parts"
        done
        for name in "$@"; do run_part "$name"; done
        all=("$@")
    else
        for name in "${all[@]}"; do
            is_done "$name" || run_part "$name"
        done
    fi
    echo "==== parts at $tree"
    for name in "${all[@]}"; do
        list_part "$name"
        is_recorded "$name" || { missing=1 && continue; }
        sum_passed=$((sum_passed + $(field "$name" passed)))
        sum_failed=$((sum_failed + $(field "$name" failed)))
        sum_skipped=$((sum_skipped + $(field "$name" skipped)))
    done
    cat "$results/all_failures"
    echo "$sum_passed passed, $sum_failed failed, $sum_skipped skipped"
    [[ $sum_failed -eq 0 && $sum_passed -gt 0 && $missing -eq 0 ]]
}

# ---- the parts ---------------------------------------------------------------------------------

part_quick() {
    split_unit_tests
    together quick_window quick_first quick_second
}

part_guards() {
    split_unit_tests
    guards_units() {
        count "unit tests, second half, guard pages at the front" \
            env HINDCAST_GUARD_PAGES=front build/release/hindcast_tests "${second_half[@]}"
        count "unit tests, first half, guard pages at the end" \
            env HINDCAST_GUARD_PAGES=end build/release/hindcast_tests "${first_half[@]}"
    }
    guards_windows() {
        count "renderer and window tests, guard pages at the end" \
            "${screen[@]}" env HINDCAST_GUARD_PAGES=end build/release/hindcast_view_tests
    }
    together guards_units guards_windows
}

part_cuda_scenes() {
    cuda_in_double() { cuda_scenes f64; }
    cuda_proof() {
        count "tests/gpu/run" env HINDCAST_GUARD_PAGES=end python3 tests/gpu/test_prove.py --run
    }
    together cuda_in_double cuda_proof
}

# units NAME FILTER...: unit tests with HINDCAST_FULL and guard pages at the end.
units() {
    local name=$1
    shift
    count "$name" env HINDCAST_FULL=1 HINDCAST_GUARD_PAGES=end build/release/hindcast_tests "$@"
}

part_sweeps() {
    sweeps_first() {
        units "damaged documents, random drops and programs, passes, derivatives of collisions" \
            "-sf=*test_fuzz.cpp,*test_contact_drops.cpp,*test_collision_gradients.cpp,*test_rollout_random.cpp,*test_optional_passes.cpp"
    }
    sweeps_second() { units "text of CUDA kernels" "-sf=*test_cuda_text.cpp,*test_cuda_library.cpp"; }
    together sweeps_first sweeps_second
}

# The first of the three cases of random kernels takes as long as the others; elementary functions take all
# processors by themselves.
part_kernels() {
    kernels_first() { units "random kernels" "-sf=*test_random_kernels.cpp" "-tc=*order agree"; }
    kernels_second() { units "random kernels, other cases" "-sf=*test_random_kernels.cpp" "-tce=*order agree"; }
    together kernels_first kernels_second
    units "elementary functions" "-sf=*test_elementary.cpp"
}

half_an_hour() { # SEED
    local seed=$1
    fuzz_scenes() { count "random scenes" tests/fuzz/scenes --seconds 1800 --seed "$seed"; }
    fuzz_robots() { random_robots --seconds 1800 --seed "$seed"; }
    together fuzz_scenes fuzz_robots
}
part_fuzz_1() { half_an_hour "$(date +%F)"; }
part_fuzz_2() { half_an_hour "$(date +%F) again"; }

part_window() {
    windows() { # NAME FILTER
        count "$1" "${screen[@]}" env HINDCAST_FULL=1 build/release/hindcast_view_tests "$2"
    }
    window_session() { windows "a session of 40 minutes" "-tc=*editing: nothing stays of it"; }
    window_panels() { windows "every panel, size, scale and theme, every way to write a field" "-sf=*test_layout.cpp,*test_ways.cpp"; }
    together window_session window_panels
}

part_python() {
    if [[ -z ${HINDCAST_PYTHON-} ]]; then
        skip "Python: its packages could not be had"
        return
    fi
    provide_torch
    python_all() {
        count "Python, with PyTorch" env HINDCAST_FULL=1 \
            PYTHONPATH="$PWD/build/release/python${HINDCAST_TORCH:+:$HINDCAST_TORCH}" "${python_tests[@]:2}"
    }
    python_wheel() { count "Python's wheel" app/python/tests/wheel "$HINDCAST_PYTHON"; }
    together python_all python_wheel
}

part_pages() {
    count "README and manual" env HINDCAST_PYTHON="${HINDCAST_PYTHON-}" HINDCAST_MUJOCO="$mujoco" tests/pages --full
}

build_apart() {
    cmake --preset release -B build/tidy -DHINDCAST_GROUPS=OFF -DHINDCAST_TESTS=ON \
        ${HINDCAST_PYTHON:+-DHINDCAST_PYTHON=ON "-DPython_EXECUTABLE=$HINDCAST_PYTHON"} >&2 && ninja -C build/tidy >&2
}
part_tidy_build() {
    if build_apart; then note 1 0 0; else note 0 1 0 "without groups: could not be built"$'\n'; fi
}
part_tidy() {
    install_missing clang-tidy-19
    build_apart || { note 0 1 0 "without groups: could not be built"$'\n' && return; }
    count "clang-tidy" tests/tidy --build build/tidy
}

# ---- sanitizers --------------------------------------------------------------------------------

# They run on the interpreter, since sanitizers cannot see generated code. Tests that simulate whole scenes
# and robots run compiled as well: sanitizers see all but the kernels then, which guard pages watch. On the
# interpreter one of them alone takes an hour.
simulating='*tests/session/*,*tests/scenes/*,*tests/physics/*,*tests/robots/*,*tests/gradient/*,*tests/identification/*'
apart='*tests/robots/collision/*,*tests/robots/sensors/*,*tests/robots/rigid/*'

# sanitized PRESET PROGRAM NAME DEVICES FILTER...
sanitized() {
    local preset=$1 program=$2 name=$3 devices=$4 keep=(env)
    shift 4
    # What the software renderer and the validation layers have not freed is theirs (objects of ours
    # that are left are found by the layers). Libraries stay loaded, so that leaks can be told apart
    # by their library.
    printf 'leak:%s\n' libvulkan_lvp libLLVM-15 libVkLayer_khronos_validation >build/leaks_of_drivers
    if [[ $preset == asan ]]; then
        cc -shared -fPIC -o build/keep_loaded.so -x c - <<<'int dlclose(void* library) { return !library; }'
        # Preloading comes before the sanitizer's own library.
        keep+=(LD_PRELOAD="$PWD/build/keep_loaded.so")
    fi
    build "$preset" hindcast "$program" || { note 0 1 0 "$name: $preset could not be built"$'\n' && return; }
    count "$name ($preset)" "${screen[@]}" "${keep[@]}" HINDCAST_TEST_DEVICES="$devices" \
        ASAN_OPTIONS=detect_stack_use_after_return=1:verify_asan_link_order=0 \
        LSAN_OPTIONS="suppressions=$PWD/build/leaks_of_drivers:print_suppressions=0" \
        UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 \
        "build/$preset/$program" "$@"
}

build_sanitized() { # PRESET PROGRAM...
    local preset=$1
    shift
    if build "$preset" hindcast "$@"; then
        note 1 0 0
    else
        note 0 1 0 "$preset: could not be built"$'\n'
    fi
}
part_asan_build() { build_sanitized asan hindcast_tests hindcast_view_tests; }
# The software renderer's threads are not the thread sanitizer's to judge.
part_tsan_build() { build_sanitized tsan hindcast_tests; }

simulations() { # PRESET NAME FILTER...
    local preset=$1 name=$2
    shift 2
    sanitized "$preset" hindcast_tests "$name" interpreter,cpu "$@"
}
for preset in asan tsan; do
    eval "
part_${preset}_session() { simulations $preset 'tests of sessions' '-sf=*tests/session/*'; }
part_${preset}_scenes() { simulations $preset 'tests of scenes' '-sf=*tests/scenes/*,*tests/identification/*'; }
part_${preset}_physics() { simulations $preset 'tests of physics' '-sf=*tests/physics/*'; }
part_${preset}_robots() { simulations $preset 'tests of robots' '-sf=*tests/robots/*' \"-sfe=\$apart\"; }
part_${preset}_collision() { simulations $preset 'tests of collisions and sensors' \"-sf=\$apart\"; }
part_${preset}_gradient() { simulations $preset 'tests of gradients' '-sf=*tests/gradient/*'; }
part_${preset}_other() { sanitized $preset hindcast_tests 'other unit tests' interpreter \"-sfe=\$simulating\"; }
"
done

part_asan_window() { # SHARE
    local tests share=${1%/*} of=${1#*/}
    build asan hindcast hindcast_view_tests || { note 0 1 0 "asan could not be built"$'\n' && return; }
    tests=$("${screen[@]}" build/asan/hindcast_view_tests --count | grep -Eo '[0-9]+$' | tail -n 1)
    sanitized asan hindcast_view_tests "renderer and window tests" interpreter --order-by=rand --rand-seed=1 \
        --first=$((tests * (share - 1) / of + 1)) --last=$((tests * share / of))
}
