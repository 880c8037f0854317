// File name patterns.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace platen {

// True if `name` has a wildcard: * ? [
bool IsPattern(const std::string& name);

// The names that a pattern matches, each once, in natural order. * ? and [ ] match within one part
// of a path, as the shell's do, and no leading dot. ** as a whole part stands for any number of
// folders, none included: "a/**/*.tif" is every .tif at or below a; at the end, "a/**", it stands
// for every file at or below a. A pattern with ** matches files alone, no folders; it passes by
// hidden folders, links to folders and folders that `is_skipped` says. A folder below ** that
// cannot be listed is among the names itself, so that the loss shows.
std::vector<std::string> ExpandPattern(
    const std::string& pattern, const std::function<bool(const std::string& folder)>& is_skipped);

}  // namespace platen
