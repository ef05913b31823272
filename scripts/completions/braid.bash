# bash completion for braid(1). Commands and options are what the program's own help says, so they cannot fall behind it.

# Words of the help of `braid ARGUMENT...`: first its subcommands, then its options.
_braid_help() {
    "${COMP_WORDS[0]}" "$@" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z_]*\)  .*/\1/p'
    "${COMP_WORDS[0]}" "$@" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
    echo --help
}

_braid() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
    local words=''
    case $COMP_CWORD:$command:$before in
    1:*) words=$(_braid_help) ;;
    2:trace:*) words=$(_braid_help trace) ;;
    2:policy:*) words="list show docs --help" ;;
    2:config:*) words="check show docs --help" ;;
    3:policy:show) words=$("${COMP_WORDS[0]}" policy list 2>/dev/null | awk '/^[a-z]/ { print $1 }') ;;
    *:compare:--format) words="table csv json md latex" ;;
    *:compare:--counts) words="none all runs pairs jobs finished unfinished rejected failed killed" ;;
    *:export:--format) words="csv json" ;;
    *:diff:--format) words="text csv json" ;;
    *:export:--what) words="jobs series segments allocs events summary runs batsim trace-events" ;;
    *:plot:--type) words="png pdf svg" ;;
    *:plot:--figure) words=$(_braid_help plot | grep -v '^-') ;;
    *:trace:--separator) words="auto comma semicolon tab bar colon blanks fixed" ;;
    *:trace:--header) words="auto true false" ;;
    *:trace:--model) words="philly poisson" ;;
    *:trace:*) [[ $word != -* ]] || words=$(_braid_help trace "${COMP_WORDS[2]}") ;;
    *) [[ $word != -* ]] || words=$(_braid_help "$command") ;;
    esac
    local line
    COMPREPLY=()
    while read -r line; do
        COMPREPLY+=("$line")
    done < <(compgen -W "$words" -- "$word")
    if [ -z "$words" ]; then
        while read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _braid braid
