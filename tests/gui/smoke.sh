#!/usr/bin/env bash
# The real keyboard and mouse: hindcast view in an X display, driven by xdotool.
#
#   xvfb-run -a -s "-screen 0 1400x900x24" tests/gui/smoke.sh build/release/hindcast FOLDER
#
# FOLDER gets a picture of the window. The last line is "N passed, N failed,
# N skipped".
set -euo pipefail
program=$1 folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if ! command -v xdotool >/dev/null || [[ -z ${DISPLAY-} ]]; then
    echo "skipped: there is no xdotool, or no display"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p "$folder"
state=$(mktemp -d)
cp "$root/scenes/spring_cage.json" "$state/scene.json"
passed=0 failed=0
check() {
    if "${@:2}"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $1"
    fi
}

HINDCAST_VULKAN_VALIDATION=${HINDCAST_VULKAN_VALIDATION-0} "$program" view "$state/scene.json" \
    --state "$state/state" --no-tour --size 1280x800 >"$folder/smoke.log" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; rm -rf "$state"' EXIT
window=$(timeout 60 xdotool search --sync --onlyvisible --pid $pid | head -n 1)
check "the window opens" test -n "$window"
sleep 6
xdotool windowfocus "$window" 2>/dev/null || true

xdotool key space; sleep 0.3
xdotool key Home; sleep 0.3
xdotool key Right Right Left; sleep 0.3
# The mouse turns the view, moves it and zooms.
xdotool mousemove 600 280 mousedown 1 mousemove_relative 60 20 mousemove_relative 60 20 mouseup 1
xdotool mousemove 600 280 mousedown 3 mousemove_relative 30 10 mouseup 3
xdotool mousemove 600 280 click 4 click 4 click 5
sleep 0.5
check "it lives after mouse and keys" kill -0 $pid
# Optimise, accept, save: the file has the values that were found.
xdotool key o; sleep 6
xdotool key ctrl+Return; sleep 2
xdotool key ctrl+s; sleep 2
check "what was optimised is in the file" grep -Eq '"rest_length": \[' "$state/scene.json"
xdotool key F12; sleep 2  # a screenshot, beside the scene
cp "$state"/*.png "$folder/smoke.png" || true
check "F12 writes a picture" test -s "$folder/smoke.png"
# Sizes one after the other.
for size in "900 600" "1300 850" "700 450" "1280 800"; do
    # shellcheck disable=SC2086
    xdotool windowsize "$window" $size
    sleep 0.3
done
check "it lives after resizing" kill -0 $pid
xdotool key ctrl+q; sleep 2
check "Ctrl+Q ends it" bash -c "! kill -0 $pid 2>/dev/null"
status=0
wait $pid || status=$?
check "it ends with status 0" test $status -eq 0
check "nothing was complained about" test ! -s "$folder/smoke.log"
cat "$folder/smoke.log"
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed -eq 0 ]]
