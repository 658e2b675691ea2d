/*
 * What programs that use SPRAL include. Of SPRAL's packages Saddle implements SSIDS.
 */
#ifndef SPRAL_H
#define SPRAL_H

#include "spral_ssids.h"

#endif
