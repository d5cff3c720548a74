# The peer is optional. One row for each check, and their means.
PATH=/nowhere ingot bench check -k q4-matvec -r 1
