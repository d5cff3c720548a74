# Every option that the help shows is offered, and every one that is offered is understood.
command -v bash >/dev/null || exit 77
cat >script.bash <<'END'
ingot() { "$ingot_path" "$@"; }
compopt() { :; }
source "$cases/../../../cli/completion/ingot.bash"
offered() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _ingot
    printf '%s\n' "${COMPREPLY[@]}"
}
commands=$(ingot --help | awk '/^Commands/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
[ "$(offered ingot '' | grep -v -e help -e --version)" = "$commands" ] || echo "commands differ"
for command in $commands; do
    shown=$(ingot "$command" --help | grep -o '^ \{2,6\}\(-., \)\{0,1\}--[^ ]*' | grep -o -e '--.*' | sort)
    [ "$(offered ingot "$command" -- | sort)" = "$shown" ] || echo "$command: offered and shown differ"
    for option in $(offered ingot "$command" --); do
        # A value, if it takes one, and then the help, so that nothing runs.
        ingot "$command" "$option" x --help 2>&1 | grep -q 'unknown option' && echo "$command does not know $option"
    done
done
offered ingot compile --emit '' | tr '\n' ' '
offered ingot halo --obstacles s | tr '\n' ' '
offered ingot generate --top | tr '\n' ' '
offered ingot help r | tr '\n' ' '
END
bash script.bash
