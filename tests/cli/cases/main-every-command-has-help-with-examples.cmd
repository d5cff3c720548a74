for command in info compile run check replay ring halo bench demo; do
    for flag in -h --help; do
        ingot $command $flag >help || exit 1
        grep -q "^Usage: ingot $command " help || echo "$command: no usage"
        grep -q '^Examples$' help || echo "$command: no examples"
    done
done
