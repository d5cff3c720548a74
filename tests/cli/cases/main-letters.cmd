# Letters that are no options together are refused, and "-h" asks for help only alone.
for letters in -hf -hk -grid -z -tz -json; do
    ingot run $letters 8 2>&1 | head -n 1
done
ingot run -h | head -n 1
