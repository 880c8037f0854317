// The family in doubles, written from its formulas, one row at a time and without a cache. Shares
// nothing with the program but the checkpoint reader.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/families/snapshot.h"

namespace platen::llama {

struct Config;

class PlainLlama {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  explicit PlainLlama(const Snapshot& snapshot);

  // Hidden vectors after the final norm, one for each id.
  Rows Hidden(const std::vector<TokenId>& ids) const;
  Row Logits(const Row& hidden) const;

 private:
  Row Linear(const std::string& name, const Row& x) const;
  Row Norm(const std::string& name, const Row& x) const;
  Rows Attention(const std::string& layer, const Rows& normed) const;

  const Config& config_;
  std::map<std::string, std::vector<double>> tensors_;
};

}  // namespace platen::llama
