# exit 72
# xcrun finds the tools and other programs, and answers about the SDK that it stands in for.
PATH=$tools:$PATH
for tool in metal metallib metal-ar metal-nm metal-objdump; do
    [ "$(xcrun --sdk macosx --find $tool)" = "$tools/$tool" ] || echo "$tool is not found"
done
xcrun -f sh | grep -c /sh
xcrun --show-sdk-path; xcrun -sdk macosx --show-sdk-version; xcrun --sdk macosx14.2 --show-sdk-version
xcrun --show-sdk-version --sdk iphoneos; xcrun -sdk macosx -show-sdk-platform-version
xcrun -r -v -n metal --version | head -1; xcrun --log metallib --version | head -1
[ "$(xcrun --show-toolchain-path)" = "$tools" ] || echo another directory
xcrun sh -c 'exit 5'; echo $?
xcrun -sdk nothing metal; echo $?
xcrun --frobnicate; echo $?
xcrun; echo $?
xcrun no-such-tool
