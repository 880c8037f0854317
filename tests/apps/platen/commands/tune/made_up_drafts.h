// Recorded regions with drafts that a test chooses.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/commands/tune/inspect/inspected.h"

namespace platen::testing {

// One token of prompt, then the answer.
inline TrainingPage MakeRegion(const std::string& document, const std::string& place,
                               std::vector<TokenId> answer) {
  TrainingPage page;
  page.document = document;
  page.place = place;
  page.prompt = 1;
  page.ids = {0};
  page.ids.insert(page.ids.end(), answer.begin(), answer.end());
  return page;
}

// drafts[d][r] is the draft of step d from row r. Each is given 0.6, and the right token 0.25
// beside it.
inline PageDrafts MakeDrafts(const TrainingPage& page,
                             const std::vector<std::vector<TokenId>>& drafts) {
  PageDrafts made;
  made.hits = {page.document, page.length() - page.prompt, {}};
  for (size_t d = 0; d < drafts.size(); ++d) {
    made.hits.hits.emplace_back();
    made.drafts.emplace_back();
    for (size_t r = 0; r < drafts[d].size(); ++r) {
      const bool right = drafts[d][r] == page.ids[static_cast<size_t>(page.prompt) + r + d + 1];
      made.hits.hits[d].push_back(right ? 1 : 0);
      made.drafts[d].push_back({drafts[d][r], 0.6F, right ? 0.6F : 0.25F});
    }
  }
  return made;
}

}  // namespace platen::testing
