# The first Ctrl-C stops the answer, the conversation goes on; where there is no answer to stop, it leaves.
cat >script.py <<'END'
import json, os, signal, subprocess, time
ingot = subprocess.Popen([os.environ["ingot_path"], "generate", "-m", os.environ["model"], "--chat", "-n", "3", "--temp", "0",
                          "-c", "200000", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
def catches():
    if not os.path.exists("/proc"): return time.sleep(2) or True
    mask = next(line for line in open("/proc/%d/status" % ingot.pid) if line.startswith("SigCgt"))
    return int(mask.split()[1], 16) & 2
while not catches(): time.sleep(0.01)
ingot.stdin.write("abc " * 10000 + "\n")
time.sleep(0.3)
ingot.send_signal(signal.SIGINT)
row = json.loads(ingot.stdout.readline())
print(row["end"], row["tokens"])
time.sleep(0.2)
print(ingot.poll())
ingot.send_signal(signal.SIGINT)
print(ingot.wait())
END
/usr/bin/python3 script.py
