// Outputs that would take the place of something else, found by their names before anything is
// read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stages/inputs/discover.h"

struct stat;

namespace platen {

// What a file is, whatever leads to it: device and number.
using FileId = std::pair<uint64_t, uint64_t>;

FileId FileIdOf(const struct stat& info);

// For one call.
struct PlannedOutputs {
  const std::string& output_dir;
  const std::vector<std::string>& formats;
  const DocumentList& documents;                // whose outputs are written
  const std::set<std::string>& elsewhere;       // outputs of documents that are for other runs
  const std::map<FileId, std::string>& inputs;  // the files that are read, and their names
};

// Whether the outputs of a document that has this path below the output folder may be those of a
// page of another: "a.tif.p0007", of the format "alto".
bool LooksLikeAPageOf(const std::string& output, const std::vector<std::string>& formats);

// Throws Error(kUsage), naming both sides and what to do, if an output would have the name
//   - of an output of another document, or of a folder that outputs stand in: how many pages a
//     document has is not known yet, so any page counts;
//   - of a file that is read, or if a report of the run would.
void RefuseClashes(const PlannedOutputs& planned);

}  // namespace platen
