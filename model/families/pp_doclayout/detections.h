// From the network's results to boxes in reading order.
//
// Source: transformers PPDocLayoutV3ImageProcessor.post_process_object_detection.
#pragma once

#include <string>
#include <vector>

#include "model/families/layout_model.h"
#include "model/families/pp_doclayout/network.h"

namespace platen::pp_doclayout {

inline constexpr double kScoreThreshold = 0.3;

// How many queries stand before each: votes[j] = sum over i < j of sigmoid(logits[i][j]) + sum over
// i > j of 1 - sigmoid(logits[j][i]).
std::vector<double> OrderVotes(ConstMatView order_logits);

// The place of every query when they are sorted by their votes; of equals the first comes first.
std::vector<int64_t> OrderRanks(const std::vector<double>& votes);

// The Q most likely pairs of query and label (a query may occur twice) whose score is at least the
// threshold, by their order, then by their score. `labels` are the config's.
std::vector<Detection> Detections(const NetworkResult& result,
                                  const std::vector<std::string>& labels, int page_width,
                                  int page_height, const ArrayObserver& observer);

// What the program calls a label of the model.
RegionKind KindOfLabel(const std::string& label);

}  // namespace platen::pp_doclayout
