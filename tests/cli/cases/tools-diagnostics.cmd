# exit 1
# Errors are clang's, with places and a count, and leave no output; -Werror and -w do what they say.
PATH=$tools:$PATH
echo 'kernel void k(device int *x) { int unused; *x = 1; }' > warns.metal
metal -Wall -c warns.metal && ls warns.air
metal -Wall -w -Werror -fsyntax-only warns.metal && echo quiet
metal -Wall -Werror -c warns.metal -o never.air || echo "exit $?"
metal -Wall -Wno-unused-variable -Werror -c warns.metal -o - | metal-nm -j -
echo 'kernel void k(device int *x) { *x = y; }' > wrong.metal
metal -MD -c wrong.metal -o wrong.air || { ls; false; }
