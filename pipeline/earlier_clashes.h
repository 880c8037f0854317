// Outputs of a run that would take the place of what belongs to an earlier run of the folder.
#pragma once

#include <string>
#include <vector>

#include "pipeline/known_documents.h"

namespace platen {

// Within a run RefuseClashes does this. Throws Error(kUsage), naming both sides and what to do,
//   - if outputs of another document that is still there, and has another content, would be
//     replaced (a file that was moved, copied or changed is the same document; what came on
//     standard input is another one as soon as its content is);
//   - if a document may write a file that an earlier run wrote for a page of another, or the other
//     way round;
//   - if a document, of this run or of earlier ones, lies in the folder `images` of pictures (below
//     the output folder; empty: none).
// Looks at files whose place has changed since; reads one only if both have the same size.
void RefuseEarlierClashes(const KnownDocuments& known, const DocumentList& documents,
                          const std::string& images);

}  // namespace platen
