// What the command line names as inputs, shared by the commands that read pages.
#pragma once

#include <memory>
#include <string>

#include "apps/platen/cli/settings.h"
#include "apps/platen/cli/spooled_input.h"
#include "stages/inputs/discover.h"

namespace platen {

// Throws Error(kUsage) unless something to read was named. `command`: for the hint.
void RequireInputs(const Settings& settings, const std::string& command);

// True for the word that stands for standard input.
bool IsStandardInput(const std::string& word);

// Adds the positional words and the list of --manifest to `spec`. The word - stands for standard
// input: an image or PDF there is a document, kept in the file that is returned for as long as it
// is read; anything else is a list of names. Throws Error(kUsage) if a list cannot be read or is
// itself an image or document.
std::unique_ptr<SpooledInput> AddNamedInputs(const Settings& settings, InputSpec& spec);

// "4 other files (.txt 2, .db 1, without extension 1)", "2 hidden files": what a search left out;
// empty if nothing.
std::string WhatWasSkipped(const Discovery& discovery);

// Throws Error(kUsage) if there is no document that could be read. Warns of folders of results that
// were left out.
void RequireDocuments(const Discovery& discovery);

}  // namespace platen
