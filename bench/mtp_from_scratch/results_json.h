// The results as JSON, for bench/results/.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/mtp_from_scratch/experiments.h"

namespace platen::bench {

nlohmann::ordered_json ToJson(const TrainingOptions& options);
nlohmann::ordered_json ToJson(const TableResult& result);
nlohmann::ordered_json ToJson(const TextResult& result);

}  // namespace platen::bench
