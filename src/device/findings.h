// SPDX-License-Identifier: Apache-2.0
// The findings of one command buffer.
#ifndef INGOT_DEVICE_FINDINGS_H
#define INGOT_DEVICE_FINDINGS_H

#include <stdio.h>

#include "device/objects.h"

// Adds a finding whose strings, except kind and advice, are allocated; or increases the count of an equal one.
// owns: takes the strings.
void igi_device_findings_add(igi_device_findings *findings, ig_finding *finding);
void igi_device_findings_free(igi_device_findings *findings);
void igi_device_finding_free(ig_finding *finding);
// CHECK_FAILED, with the first of them as the message, if there are errors; OK if there are none, or only warnings.
ig_status igi_device_findings_status(const igi_device_findings *findings, ig_error *error);

#endif
