// What results depend on: shown in the outputs, and hashed into the fingerprint that a run and the
// one it continues must share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"
#include "pipeline/document_content.h"
#include "stages/formats/page_result.h"

namespace platen {

using ResultSettings = std::vector<DocumentSetting>;

// Of inputs of one kind: the version, then the options that concern them and whose changes_results
// is a place, in the order of places: the name
// in results and the value, that of `resolved` (by option name) where it has one. Options with
// a place above kAlwaysShown are left out where they have their default (or value_before), so that
// a new option leaves what was read before it came as it is.
inline constexpr int kAlwaysShown = 11;
ResultSettings ResultSettingsOf(const OptionTable& table, const Settings& settings, InputKind kind,
                                const std::map<std::string, std::string>& resolved);

// The options with changes_results kRendering that are not the default; empty: all are.
std::string RenderingOf(const OptionTable& table, const Settings& settings);

std::string FingerprintOf(const ResultSettings& settings);

}  // namespace platen
