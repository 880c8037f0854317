#include "pipeline/failure_log.h"

#include <nlohmann/json.hpp>

#include "model/support/utf8.h"

namespace platen {

void FailureLog::Add(const Failure& failure) {
  const nlohmann::ordered_json line{
      {"input", failure.name}, {"page", failure.page}, {"error", ToValidUtf8(failure.error)}};
  file_.Append(line.dump() + "\n");
  if (first_.size() < kMostInMemory) first_.push_back(failure);
  ++count_;
}

}  // namespace platen
