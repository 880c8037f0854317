// Everything: documents into text. See reader.h.
#pragma once

#include "platen/document.h"
#include "platen/exception.h"
#include "platen/options.h"
#include "platen/reader.h"
#include "platen/version.h"
