# SPDX-License-Identifier: Apache-2.0
# bash completion for ingot. Options come from the help, so that they are never out of date.

_ingot_words() {
    "${COMP_WORDS[0]}" "$@" --help 2>/dev/null
}

_ingot_commands() {
    _ingot_words | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_ingot() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_ingot_commands) help --help --version" -- "$word")
        return
    fi
    if [ "$command" = help ]; then
        [ "$COMP_CWORD" -ne 2 ] || mapfile -t COMPREPLY < <(compgen -W "$(_ingot_commands)" -- "$word")
        return
    fi
    # A choice is shown as "--name one|two" in the help.
    case $previous in
    --*)
        local choices
        choices=$(_ingot_words "$command" | sed -n "s/^  ....$previous \([a-z0-9]*|[a-z0-9|]*\).*/\1/p" | tr '|' ' ')
        [ -z "$choices" ] || {
            mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
            return
        }
        ;;
    esac
    case $word in
    -*)
        local options
        options=$(_ingot_words "$command" | sed -n 's/^  ....\(--[a-z0-9-]*\).*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        ;;
    *) compopt -o default ;;
    esac
}

complete -F _ingot ingot
