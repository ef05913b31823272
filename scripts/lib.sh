# shellcheck shell=bash
# lib.sh - what the scripts beside it share; sourced, never run.
#
# The scripts work from any current folder and go to the root of the tree first. Everything they print for people goes to
# standard error but for what was asked for (tables, counts).

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() {
    printf '== %s\n' "$*" >&2
}

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# The Python that has h5py: the system's one where another comes first in PATH.
python_with() {
    local module=$1 python
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import $module" 2>/dev/null; then
            echo "$python"
            return 0
        fi
    done
    return 1
}

is_there() { # CHECK of scripts/packages.txt
    local what=${1#*:}
    case $1 in
    cmd:*) command -v "$what" >/dev/null ;;
    pc:*) pkg-config --exists "$what" 2>/dev/null ;;
    header:*) printf '#include <%s>\n' "$what" | gcc -E - >/dev/null 2>&1 ;;
    py:*) python_with "$what" >/dev/null ;;
    file:*) compgen -G "$what" >/dev/null ;;
    *) die "scripts/packages.txt: unknown check '$1'" ;;
    esac
}

missing_packages() { # GROUP...
    local group package check wanted
    while read -r group package check; do
        case $group in '' | '#'*) continue ;; esac
        for wanted in "$@"; do
            if [ "$group" = "$wanted" ] && ! is_there "$check"; then
                echo "$package"
            fi
        done
    done <scripts/packages.txt
}

# Install what is missing of the groups; nothing is asked of apt-get when nothing is.
need_packages() { # GROUP...
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo)
    fi
    if ! command -v apt-get >/dev/null; then
        die "please install what Debian calls: ${missing[*]}; then run this again"
    fi
    if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
        die "please run as root: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -eq 0 ] || die "still missing after the installation: ${missing[*]}"
}

# Set up a build folder, or bring it to these options; a folder that another place or version left behind is made anew.
configure_build() { # DIR [MESON-OPTION...]
    local dir=$1
    shift
    local log
    log=$(mktemp)
    if { [ -f "$dir/build.ninja" ] && meson setup --reconfigure "$dir" "$@" >"$log" 2>&1; } ||
        { [ -d "$dir/meson-private" ] && meson setup --wipe "$dir" "$@" >"$log" 2>&1; } ||
        meson setup "$dir" "$@" >"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    cat "$log" >&2
    rm -f "$log"
    die "meson could not configure $dir (see above)"
}

# Build quietly; the compiler's words are shown when it fails.
build() { # DIR [TARGET...]
    local dir=$1 log
    shift
    log=$(mktemp)
    if ! ninja -C "$dir" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "the build in $dir failed (see above)"
    fi
    rm -f "$log"
}
