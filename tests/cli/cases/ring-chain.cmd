# What the first kernel makes goes to the second, without the host.
echo to be or not | ingot ring $examples/ring-pipeline.metal -k upper -k back=reverse -c upper,back -l -b 1 --status
