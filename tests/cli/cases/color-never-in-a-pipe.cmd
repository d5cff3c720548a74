# exit 1
ingot info | grep -c "$(printf "\033")"
