# The progress of reading the prompt does not erase it.
cat >script.py <<'END'
import os, pty
pid, terminal = pty.fork()
if pid == 0:
    os.execv(os.environ["ingot_path"], ["ingot", "generate", "-m", os.environ["model"], "-p", "abc", "-n", "3", "--temp", "0"])
text = b""
try:
    while True: text += os.read(terminal, 4096)
except OSError: pass
print(os.waitpid(pid, 0)[1], b"prompt [" in text)
print(text.split(b"\r\x1b[K")[-1].splitlines()[0].decode())
END
/usr/bin/python3 script.py
