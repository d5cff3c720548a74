# exit 1
# sw_vers tells which macOS is stood in for, as xcrun does of the SDK.
PATH=$tools:$PATH
sw_vers
sw_vers -productVersion; sw_vers --productName; sw_vers --buildVersion
[ "$(sw_vers -productVersion)" = "$(xcrun --show-sdk-version)" ] || echo two versions
sw_vers --help | head -1
sw_vers -productVersion -productName
sw_vers --frobnicate
