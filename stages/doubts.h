// Which pages a person should look at: what was read may not be what stands on them.
#pragma once

#include <vector>

#include "model/families/reading_config.h"
#include "stages/formats/page_result.h"

namespace platen {

// A line with a lower mean confidence counts as one that was read with low confidence.
inline constexpr double kLowLineConfidence = 0.6;

// What speaks against a page's result, in the order of DoubtKind. Nothing for a page that failed.
//   no_text         nothing was read though `has_ink`
//   low_confidence  at least a fifth of the lines, and two or all of them, have a mean confidence
//                   below 0.60; regions that were read as a whole count as lines
//   foreign_script  the mean confidence of all tokens, 15 or more, is below the model's own bound
//                   (`doubtful_below`). Only if the model states the scripts it was trained on
//   repetition      text repeated itself without end, at another scale too, and was cut
//   token_limit     text was cut at the limit of tokens
// Confidences count as outputs show them, rounded to 0.0001. Pure.
std::vector<Doubt> FindDoubts(const PageResult& page, bool has_ink, const ReadingConfig& reading);

}  // namespace platen
