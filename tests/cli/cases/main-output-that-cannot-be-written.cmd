# exit 3
[ -e /dev/full ] || exit 77
ingot --help >/dev/full
