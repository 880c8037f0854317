#include "pipeline/failure_log.h"

#include <nlohmann/json.hpp>

#include "model/support/utf8.h"
#include "stages/inputs/name_bytes.h"

namespace platen {

void FailureLog::Add(const Failure& failure) {
  const auto& [name, path, output, page, of_pages, error] = failure;
  nlohmann::ordered_json line{{"input", name}};
  AddName(line, "path", path);
  AddName(line, "output", output);
  line["page"] = page;
  line["code"] = FailureCodeName(error.code);
  line["error"] = ToValidUtf8(error.text);
  file_.Append(line.dump() + "\n");
  if (first_.size() < kMostInMemory) first_.push_back(failure);
  ++count_;
  ++counts_[error.code];
}

}  // namespace platen
