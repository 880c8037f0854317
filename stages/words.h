// Where the words of a line stand. The model gives the text of a line, not its places: they are
// estimated.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "stages/formats/page_result.h"
#include "stages/layout/crops.h"

namespace platen {

// The words of `text` (UTF-8, parted by spaces), which fills `quad` from left to right. Where the
// white gaps agree with the spaces - there is one near the place at which usual widths of letters
// put each space - words end at gaps; else all are shared out by those widths. `tokens` are of this
// text; a word without one gets the confidence 0. Pure.
std::vector<WordResult> EstimateWords(std::string_view text, std::span<const TokenResult> tokens,
                                      const std::array<ResultPoint, 4>& quad,
                                      std::span<const WordGap> gaps);

}  // namespace platen
