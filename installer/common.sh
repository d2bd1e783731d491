# shellcheck shell=bash
# Shared by the scripts beside it; sourced, never run.
set -euo pipefail
installer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
project=$(dirname "$installer")
logs=$project/build/log

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# How this system can have what Hearth needs: packages (its own are new enough: Qt 6.6 and KF6), root (an older Debian or
# Ubuntu, which can hold a Debian 13 root) or none.
system_kind() (
    ID='' ID_LIKE='' VERSION_ID=''
    # shellcheck source=/dev/null
    [[ ! -r /etc/os-release ]] || . /etc/os-release
    new=root
    case $ID in
        debian) [[ -n $VERSION_ID && ${VERSION_ID%%.*} -lt 13 ]] || new=packages ;;
        ubuntu) [[ ${VERSION_ID//./} -lt 2504 ]] || new=packages ;;
        *)
            if [[ " $ID_LIKE " != *" debian "* && " $ID_LIKE " != *" ubuntu "* ]]; then
                new=none
            else  # a relative of theirs: its version number says nothing, its packages do
                qt=$(apt-cache policy qt6-base-dev 2>/dev/null | awk '$1 == "Candidate:" {print $2}')
                kf=$(apt-cache policy libkf6syntaxhighlighting-dev 2>/dev/null | awk '$1 == "Candidate:" {print $2}')
                if [[ -n $kf && $kf != "(none)" ]] && dpkg --compare-versions "${qt:-0}" ge 6.6; then new=packages; fi
            fi ;;
    esac
    echo "$new"
)

# progress TITLE: reads a command's output and shows how far it is, by ninja's, ctest's and apt's own counts.
progress() {
    local title=$1 line count='' done=0 shown=$SECONDS
    [[ -t 1 ]] || say "$title ..."
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+/[0-9]+)\] || $line =~ ^\ *([0-9]+/[0-9]+)\ Test ]]; then count=${BASH_REMATCH[1]}
        elif [[ $line =~ ^(Get:|Unpacking|Setting\ up) ]]; then done=$((done + 1)); count="$done steps"
        fi
        if [[ -t 1 ]]; then printf '\r\e[K%s ... %s' "$title" "$count"
        elif ((SECONDS - shown >= 30)); then say "  ${count:-still at it}"; shown=$SECONDS
        fi
    done
    [[ ! -t 1 ]] || printf '\r\e[K'
}

# attempt TITLE NAME COMMAND...: runs it, its output in build/log/NAME.log, its progress on the screen. Gives its status.
attempt() {
    local title=$1 log=$logs/$2.log start=$SECONDS status=0
    shift 2
    mkdir -p "$logs"
    "$@" </dev/null 2>&1 | tee "$log" | progress "$title" || status=$?
    if ((status == 0)); then
        if [[ -t 1 ]]; then say "$title: $((SECONDS - start)) s"; else say "  done in $((SECONDS - start)) s"; fi
    fi
    return "$status"
}

# step TITLE NAME COMMAND...: the same, but a failure ends the script with the end of the log and a sentence.
step() {
    if ! attempt "$@"; then
        tail -n 25 "$logs/$2.log" >&2
        fail "$1: this did not work. The lines above are the end of ${logs#"$project/"}/$2.log, which has the whole story."
    fi
}

# as_root COMMAND...: with sudo where it must be.
as_root() {
    if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# apt_install PACKAGE...: what is named and not yet installed.
apt_install() {
    local package missing=()
    for package in "$@"; do
        [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "These packages are missing, and there is no sudo to install them with: ${missing[*]}. Let somebody with the rights run: apt-get install ${missing[*]}"
        say "Hearth needs these packages: ${missing[*]}"
        say "sudo installs them; it may ask for your password."
        sudo -v || fail "Without sudo they cannot be installed. Let somebody with the rights run: apt-get install ${missing[*]}"
    fi
    local options=(-y --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
    attempt "Reading the list of packages" apt-update as_root apt-get "${options[@]}" update ||
        say "The list of packages could not be brought up to date; trying with the one that is here."
    step "Installing packages" apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install "${missing[@]}"
}

# settle SCRIPT GROUPS FRESH ARG...: returns where the packages of GROUPS are installed. On a system that is too old,
# SCRIPT is run again inside the Debian 13 root instead; on one that is strange, it ends with the names of the packages.
settle() {
    local script=$1 groups=$2 fresh=$3
    shift 3
    case $(system_kind) in
        packages) ;;
        root) exec "$installer/root" ${fresh:+--fresh} --with "$groups" "$script" ${fresh:+--fresh} "$@" ;;
        none) fail "$("$installer/dependencies" --print)" ;;
    esac
    # shellcheck disable=SC2086
    "$installer/dependencies" $groups
}

# configure PRESET NAME=VALUE...: lets CMake make build/PRESET; objects that a compiler cache has are not compiled again.
configure() {
    local preset=$1
    shift
    if command -v ccache >/dev/null; then
        export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$project
    fi
    cd "$project"
    step "Configuring $preset" "configure-$preset" cmake --preset "$preset" "${@/#/-D}"
}
