ingot info --color always | grep -c "$(printf "\033\[1m")" | grep -qv "^0$" && echo coloured
