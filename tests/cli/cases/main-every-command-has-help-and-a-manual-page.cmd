commands=$(ingot --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -gt 9 ] || echo "only these commands: $commands"
man=$cases/../../../man
for command in $commands; do
    for flag in -h --help; do
        ingot $command $flag >help || exit 1
        grep -q "^Usage: ingot $command " help || echo "$command: no usage"
        grep -q '^Examples$' help || echo "$command: no examples"
    done
    [ -e "$man/ingot-$command.1" ] || echo "$command: no man/ingot-$command.1"
    grep -q "'ingot-$command.1'" "$man/meson.build" || echo "$command: its manual page is not in man/meson.build"
    [ "$(grep -c "^.Xr ingot-$command 1" "$man/ingot.1")" -ge 2 ] ||
        echo "$command: man/ingot.1 must name it in the list of commands and under SEE ALSO"
    # Its own options, and those that it shares with a command whose page it refers to.
    pages=$(sed -n 's/^\.Xr \(ingot-[a-z]*\) 1.*/\1/p' "$man/ingot-$command.1" | sed "s,.*,$man/&.1,")
    for option in $(sed -n '/^Options/,/^$/s/^ \{2,6\}\(-., \)\{0,1\}--\([^ ]*\).*/\2/p' help); do
        [ "$option" = help ] || [ "$option" = color ] || grep -q "^\.It Fl .*-$option\b" "$man/ingot-$command.1" $pages ||
            echo "$command: its manual page does not describe --$option"
    done
done
