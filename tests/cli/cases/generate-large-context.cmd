# Memory for the context is taken as it fills; what can never fit is refused.
cat >script.py <<'END'
import os, resource, subprocess
def run(context):
    return subprocess.run([os.environ["ingot_path"], "generate", "-m", os.environ["model"], "-p", "abc", "-n", "3", "--temp",
                           "0", "-c", str(context)], capture_output=True, text=True)
print(run(4000000).stdout.strip(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 400000)
refused = run(10**11)
print(refused.returncode, refused.stderr.strip())
print(run(2**62).returncode)
END
/usr/bin/python3 script.py
