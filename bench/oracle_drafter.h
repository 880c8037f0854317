// A drafter that is right as often as it is told to be, at the price of a real one.
#pragma once

#include <memory>
#include <vector>

#include "model/engine/drafters/drafter.h"

namespace platen::bench {

// Every pass of `inner` is computed; then its drafts are replaced by the tokens of the answer, each
// with the chance `acceptance`, else by others. Which ones depends on sequence and place alone.
class OracleDrafter final : public Drafter {
 public:
  // `answer`: what every sequence decides, first token first; drafts beyond its end are wrong.
  OracleDrafter(std::unique_ptr<Drafter> inner, std::vector<TokenId> answer, double acceptance);

  std::string_view name() const override { return "oracle"; }
  void Observe(std::span<Sequence* const> sequences, const RowBatch& batch, ConstMatView hidden,
               bool warm_up) override;
  bool CanPropose(const Sequence& sequence) const override;
  void Propose(std::span<Proposal> proposals, const DraftLimits& limits,
               DraftCosts& costs) override;
  void Commit(const Sequence& sequence, ConstMatView hidden) override;
  void Forget(SequenceId sequence) noexcept override;

 private:
  TokenId DraftAt(const Sequence& sequence, int64_t place) const;

  std::unique_ptr<Drafter> inner_;
  std::vector<TokenId> answer_;
  double acceptance_;
};

}  // namespace platen::bench
