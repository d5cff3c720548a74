// SPDX-License-Identifier: Apache-2.0
// Opening a device, or reporting why that failed.
#include "console/device.h"

#include "console/options.h"
#include "console/output.h"

int cli_open_device(const ig_device_desc *desc, ig_device **device) {
    ig_error error = {0};
    ig_status status = ig_device_create(desc, device, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    return CLI_CONTINUE;
}
