#include "model/engine/sequence.h"

#include <stdexcept>

namespace platen {
namespace {

void Require(bool holds, const char* rule) {
  if (!holds) throw std::logic_error(std::string("sequence invariant broken: ") + rule);
}

}  // namespace

void CheckInvariants(const Sequence& s, const KvPool& pool) {
  Require(s.cache_len == s.prompt_len() + s.num_decided() - 1, "all but the anchor are cached");
  Require(s.mtp_len >= 0 && s.mtp_len <= s.cache_len, "0 <= mtp_len <= cache_len");
  Require(s.mtp_len == 0 || s.lagging_hidden.rows() == s.cache_len - s.mtp_len,
          "hidden vectors are kept for exactly the lagging rows");
  Require(static_cast<int64_t>(s.blocks.size()) >= pool.BlocksFor(s.cache_len + 1),
          "the next row has a block");
}

}  // namespace platen
