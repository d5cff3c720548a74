# The list for zsh has the commands and options of the help, no more and no less.
cat >script.py <<'END'
import os, re, subprocess
ingot, path = os.environ["ingot_path"], os.environ["cases"] + "/../../../cli/completion/_ingot"
text = open(path).read()
def options(part): return set(re.findall(r"--[a-z0-9][a-z0-9-]*", part))
def array(name): return re.search(name + r"=\((.*?)\n?\)\n", text, re.S).group(1)
def shown(*words):
    out = subprocess.run([ingot, *words, "--help"], capture_output=True, text=True).stdout
    return out, set(re.findall(r"^ +(?:-., )?(--[a-z0-9-]+)", out, re.M))
main, _ = shown()
commands = re.findall(r"^  ([a-z]+) ", main.split("Commands\n")[1].split("\n\n")[0], re.M)
listed = re.findall(r"^ +'([a-z]+)\[", text.split("_values command")[1].split(";;")[0], re.M)
print("commands differ" if commands != listed else "commands agree")
for command in commands:
    part = re.search(r"\n    %s\)(.*?);;" % command, text, re.S).group(1)
    for name in "common_options", "source_options", "run_options": part = part.replace("$" + name, array(name))
    part = re.sub(r"\[[^]]*\]", "", part)
    there, here = options(part), shown(command)[1]
    if there != here: print(command, "too many:", sorted(there - here), "missing:", sorted(here - there))
END
/usr/bin/python3 script.py
