// Documents whose answers are nearly the same: copies, forms with the same words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/training/training_page.h"

namespace platen {

// For each document the first one, by name, that it is like; that is itself if there is none before
// it. Alike are documents that share four fifths of their pieces of eight tokens (Jaccard), as
// estimated from the 64 pieces with the smallest hashes. One without answers is like no other.
// Source: Broder, "On the resemblance and containment of documents" (1997).
std::map<std::string, std::string> AlikeDocuments(const std::vector<TrainingPage>& pages);

}  // namespace platen
