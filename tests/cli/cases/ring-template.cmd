cd "$examples/../src/kernels" && eval "$(sed -n 's|^//   \(ingot ring .*\)|\1|p' ring-kernel.metal)"
