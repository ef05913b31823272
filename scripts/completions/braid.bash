# bash completion for braid(1)

_braid_commands=(run compare diff plot export merge trace policy config)

_braid_options() { # COMMAND
    case $1 in
    run) echo "-o --set -j --resume --shard --dry-run --check --fail-fast --quiet --progress --progress=json --help" ;;
    compare) echo "--baseline --by --metrics --format --help" ;;
    diff) echo "--run --help" ;;
    plot) echo "-o --figure --type --help" ;;
    export) echo "--run --what -o --format --help" ;;
    merge) echo "--help" ;;
    trace) echo "info check convert generate --help" ;;
    policy) echo "list show --help" ;;
    config) echo "check --help" ;;
    esac
}

_braid() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
    local words=''
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="${_braid_commands[*]} --help --version"
    else
        case $command:$before in
        compare:--format) words="table csv json md latex" ;;
        export:--format) words="csv json" ;;
        export:--what) words="jobs series segments events summary batsim trace-events" ;;
        plot:--type) words="png pdf svg" ;;
        trace:--model) words="philly poisson" ;;
        policy:show) words=$(braid policy list 2>/dev/null | awk '/^[a-z]/ {print $1}') ;;
        *) words=$(_braid_options "$command") ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    if [ ${#COMPREPLY[@]} -eq 0 ] || { [ "$COMP_CWORD" -gt 1 ] && [[ $word != -* ]]; }; then
        local file
        while read -r file; do
            COMPREPLY+=("$file")
        done < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _braid braid
