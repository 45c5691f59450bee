#!/usr/bin/env bash
# The real keyboard and mouse: hindcast view in an X display, driven by xdotool.
#
#   xvfb-run -a -s "-screen 0 1400x900x24" tests/gui/smoke.sh build/release/hindcast FOLDER
#
# FOLDER gets pictures of the window. Vulkan's validation layers watch; what they say fails. The
# last line is "N passed, N failed, N skipped".
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

# Whether the command is true within a minute.
within_a_minute() {
    local end=$((SECONDS + 60))
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.2
    done
}

export HINDCAST_VULKAN_VALIDATION=${HINDCAST_VULKAN_VALIDATION-1}
# Opens the scene in a window: sets pid and window. A window that asks something draws no picture.
open_window() { # open_window LOG [asks]
    "$program" view "$state/scene.json" \
        --state "$state/state" --no-tour --size 1280x800 >"$1" 2>&1 &
    pid=$!
    window=$(timeout 60 xdotool search --sync --onlyvisible --pid $pid | sed -n 1p)
    check "the window opens" test -n "$window"
    check "the window takes the keyboard" within_a_minute has_keyboard
    if [[ ${2-} == asks ]]; then sleep 6; else check "the window draws" within_a_minute draws; fi
}
has_keyboard() {
    xdotool windowfocus "$window" 2>/dev/null || true
    [[ $(xdotool getwindowfocus 2>/dev/null) == "$window" ]]
}
draws() {
    picture drawn
    [[ -s $folder/drawn.png ]] && rm "$folder/drawn.png"
}
found() { grep -Eq '"rest_length": \[' "$@" 2>/dev/null; }
# Ends the window with SIGTERM and waits for it; its status.
terminate() {
    kill -TERM $pid
    status=0
    wait $pid || status=$?
}
is_gone() { ! kill -0 $pid 2>/dev/null; }
# Width and height of a PNG, from its header.
size_of() { od -An -tu1 -j16 -N8 "$1" | awk '{ print $3*256+$4, $7*256+$8 }'; }
# F12 writes a picture beside the scene: it goes to FOLDER/NAME.png.
picture() { # picture NAME
    rm -f "$state"/*.png
    xdotool key F12
    for _ in $(seq 50); do
        sleep 0.2
        [[ -n $(find "$state" -maxdepth 1 -name '*.png' -size +0 -print -quit) ]] && break
    done
    sleep 0.2
    mv "$state"/*.png "$folder/$1.png" 2>/dev/null || true
}
open_window "$folder/smoke.log"
trap 'kill $pid 2>/dev/null || true; rm -rf "$state"' EXIT

xdotool key space; sleep 0.3
xdotool key Home; sleep 0.3
xdotool key Right Right Left; sleep 0.3
# The mouse turns the view, moves it and zooms.
xdotool mousemove 600 280 mousedown 1 mousemove_relative 60 20 mousemove_relative 60 20 mouseup 1
xdotool mousemove 600 280 mousedown 3 mousemove_relative 30 10 mouseup 3
xdotool mousemove 600 280 click 4 click 4 click 5
sleep 0.5
check "it lives after mouse and keys" kill -0 $pid
# Optimize, accept, save: the file has the values that were found.
xdotool key o; sleep 6
# Alt+F4, with Alt released while the window manager has the keyboard, and Cancel: keys still work.
coproc python3 "$root/tests/gui/close_key.py" "$window"
read -r -t 10 -u "${COPROC[0]}" _
xdotool keydown alt keydown F4; sleep 0.3
xdotool keyup alt keyup F4; sleep 2
check "Alt+F4 asks before what was found is lost" kill -0 $pid
xdotool key Escape; sleep 1
picture smoke_after_alt_f4
check "keys work after Alt+F4 and Cancel" test -s "$folder/smoke_after_alt_f4.png"
is_saved() {
    xdotool key ctrl+Return; sleep 1
    xdotool key ctrl+s; sleep 1
    found "$state/scene.json"
}
check "what was optimized is in the file" within_a_minute is_saved
rm -f "$folder"/smoke*.png
picture smoke
check "F12 writes a picture" test -s "$folder/smoke.png"
# Sizes one after the other: the window is drawn at each of them, and not empty.
for size in "900 600" "1300 850" "700 450" "1280 800"; do
    # shellcheck disable=SC2086
    xdotool windowsize "$window" $size
    sleep 1
    name=smoke_${size/ /x}
    picture "$name"
    check "the picture is $size after resizing" \
        test "$(size_of "$folder/$name.png" 2>/dev/null)" = "$size"
    check "there is something in the picture of $size" \
        test "$(stat -c %s "$folder/$name.png" 2>/dev/null || echo 0)" -gt 15000
done
check "it lives after resizing" kill -0 $pid
xdotool key ctrl+q
check "Ctrl+Q ends it, without a question" within_a_minute is_gone
kill $pid 2>/dev/null || true
status=0
wait $pid || status=$?
check "it ends with status 0" test $status -eq 0
check "nothing was complained about" test ! -s "$folder/smoke.log"
cat "$folder/smoke.log"

# What a polite signal ends while there is something unsaved: kept, and offered next time.
cp "$root/scenes/spring_cage.json" "$state/scene.json"
open_window "$folder/smoke_signal.log"
xdotool key o; sleep 10
terminate
check "SIGTERM ends it with status 143" test $status -eq 143
check "it says that something is kept" grep -q "what was not saved is kept" \
    "$folder/smoke_signal.log"
check "what was found is in the autosave" \
    bash -c "grep -Eq '\"rest_length\": \\[' '$state'/state/autosave-*.json"
check "the file is as it was" cmp -s "$root/scenes/spring_cage.json" "$state/scene.json"
open_window "$folder/smoke_offered.log" asks
xdotool key Return; sleep 2 # Open what was kept
is_saved() {
    xdotool key ctrl+s; sleep 1
    found "$state/scene.json"
}
check "it is offered at the next start, and opened by Enter" within_a_minute is_saved
xdotool key ctrl+q
nothing_kept() { [[ -z $(find "$state/state" -name 'autosave-*.json' -print -quit) ]]; }
check "nothing is left behind then" within_a_minute nothing_kept
kill $pid 2>/dev/null || true
check "nothing was complained about there" test ! -s "$folder/smoke_offered.log"
cat "$folder/smoke_offered.log"

# A stream that takes nothing changes nothing of that.
cp "$root/scenes/spring_cage.json" "$state/scene.json"
open_window /dev/full
xdotool key o; sleep 10
terminate
check "SIGTERM ends it with status 143 where nothing can be said" test $status -eq 143
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed -eq 0 ]]
