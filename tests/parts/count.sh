# Counting, for tests/run: what came of each program, in the folder $results.
#
#   count NAME COMMAND...   runs it and notes what it counts
#   skip REASON             notes one skipped test
#   total                   prints what was noted: failures, and "N passed, N failed, N skipped" at last

# note PASSED FAILED SKIPPED [FAILURES]
note() {
    echo "$1 $2 $3" >>"$results/counts"
    printf '%s' "${4-}" >>"$results/failures"
}

skip() {
    echo "skipped: $1"
    note 0 0 1
}

# count NAME COMMAND...: runs it and notes the last "N passed, N failed, N skipped" it prints.
# A program that ends without that line, or fails without naming a test, is one failed test.
count() {
    local name=$1 status=0 line output began=$SECONDS failures
    shift
    output=$(mktemp)
    echo "== $name"
    "$@" </dev/null 2>&1 | tee "$output" || status=${PIPESTATUS[0]}
    line=$(grep -aEo '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$output" | tail -n 1) || true
    # doctest's and unittest's "failed: NAME", pytest's "FAILED NAME", scene tests' "FAILED   NAME".
    failures=$(grep -aE '^(failed: |FAILED |FAIL: |ERROR: )' "$output" | sed "s|^|$name: |") || true
    rm -f "$output"
    echo "== $name: $((SECONDS - began)) s"
    local passed=0 failed=0 skipped=0
    if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[3]}
    else
        failures+=$'\n'"$name: ended without counting its tests (status $status)"
        failed=1
    fi
    if [[ $status -ne 0 && $failed -eq 0 ]]; then
        failures+=$'\n'"$name: ended with status $status"
        failed=1
    fi
    note "$passed" "$failed" "$skipped" "$failures"$'\n'
}

# together COMMAND...: functions at once, as many as keep two cores busy. The first one's words are shown as they come,
# those of the others when all have ended.
together() {
    local first=$1 pids=() status line k=0
    shift
    for line in "$@"; do
        k=$((k + 1)) # here, since what is redirected in the background counts for itself
        "$line" >"$results/line_$k" 2>&1 &
        pids+=($!)
    done
    "$first"
    for ((k = 1; k <= $#; ++k)); do
        status=0
        wait "${pids[k - 1]}" || status=$?
        [[ $status -eq 0 ]] || note 0 1 0 "'${!k}' ended early (status $status)"$'\n'
        cat "$results/line_$k"
    done
}

# Sets passed, failed and skipped to what was noted.
add_up() {
    read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' \
        "$results/counts")
}

# Whatever failed once more, at the end, where it is found. Fails if anything did, or nothing ran.
total() {
    sed '/^$/d' "$results/failures"
    add_up
    echo "$passed passed, $failed failed, $skipped skipped"
    [[ $failed -eq 0 && $passed -gt 0 ]]
}
