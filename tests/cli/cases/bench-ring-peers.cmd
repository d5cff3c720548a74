# Peers are compiled and started from the files that come with the command: stand-ins for the compilers check that they are there.
cat >cc <<'END'
#!/bin/sh
for word; do
    case $word in *.c | *.cpp) [ -s "$word" ] && [ -s peer.h ] || exit 1 ;; esac
done
printf '#!/bin/sh\necho 1000 2000 3000 4 5\n' >peer && chmod +x peer
END
cat >escript <<'END'
#!/bin/sh
[ -s "$1" ] && echo 1000 2000 3000 4 5
END
cp cc c++ && chmod +x cc c++ escript
PATH=$PWD:$PATH ingot bench ring -k round-trip -r 1 2>&1 | grep '^peers'
