// Which documents training sees.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/training/training_page.h"

namespace platen {

// Which of the documents are trained on, by name: of ten seven are, one chooses among the steps of
// training, two judge; of fewer one at least does each. Documents that are alike (AlikeDocuments)
// stay together, so that none is judged by its copy, and of those no more are used than a tenth of
// all documents. If fewer than three differ, each stands for itself.
enum class Part { kTrain, kChoose, kJudge, kLeftOut };
std::map<std::string, Part> SplitDocuments(const std::vector<TrainingPage>& pages, uint64_t seed);

}  // namespace platen
