// Results joined to larger ones: pieces to lines, lines to regions.
#pragma once

#include <string>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen {

// Confidence over the tokens of both.
void Merge(Confidence& into, const Confidence& other);

// Both texts, with `separator` between them if neither is empty.
void JoinText(std::string& into, const std::string& text, char separator);

void AddMissing(std::vector<std::string>& into, const std::vector<std::string>& from);

// "stop" is the good end; a limit is worse, and text that repeated itself worst.
void MergeFinish(std::string& into, const std::string& finish);

// One more line of a region, below the others.
void AddLine(LineResult line, RegionResult& region);

// Says in the region's error how many of its lines failed, if any. After its last line.
void FinishRegion(RegionResult& region);

}  // namespace platen
