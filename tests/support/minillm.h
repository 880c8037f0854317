// Decoders of tests/golden/minillm without the rest of a snapshot: most of them have no tokenizer.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "model/checkpoint/tensor_check.h"
#include "model/checkpoint/weight_source.h"
#include "model/families/minillm/architecture.h"
#include "model/families/minillm/decoder.h"
#include "tests/support/golden.h"

namespace platen::testing {

// A decoder with its weights, and what it gives for rows.
class MiniDecoder {
 public:
  explicit MiniDecoder(const std::string& folder, const KernelTable& kernels = BestKernels(),
                       Precision precision = Precision::kF32)
      : architecture_(FamilyRegistry::BuiltIn().Read(folder)),
        checkpoint_(Checkpoint::Open(folder)),
        note_(architecture_->Settle(checkpoint_)),
        check_(CheckTensors(architecture_->Modules(), checkpoint_, folder)),
        parts_(architecture_->Build(kernels, VisionAttention::kF32)),
        pool_(architecture_->text().cache, KvTypeOf(precision), kBlockTokens, 64 << 20),
        workspace_(parts_.text->MakeWorkspace()) {
    ThrowFirst(check_.missing);
    ThrowFirst(check_.mismatched);
    CheckpointSource source(precision);
    LoadModules(parts_.modules, checkpoint_, source);
  }

  static constexpr int kBlockTokens = 16;

  const TextSizes& sizes() const { return architecture_->text(); }
  const std::string& note() const { return note_; }
  const TensorCheck& check() const { return check_; }
  const ModelParts& parts() const { return parts_; }
  KvPool& pool() { return pool_; }
  minillm::DecoderWorkspace& workspace() {
    return static_cast<minillm::DecoderWorkspace&>(*workspace_);
  }

  // Hidden vectors [ids, D] of tokens at cache indices from `first` on, as one batch. The cache
  // holds what earlier calls left below `first`. Rope positions are `positions`, or the indices.
  Mat Hidden(const std::vector<TokenId>& ids, int64_t first, const Observer& observer = {},
             const std::vector<int32_t>& positions = {}) {
    const auto rows = static_cast<int64_t>(ids.size());
    pool_.Take(pool_.BlocksFor(first + rows), blocks_);
    RowBatch batch;
    batch.AddSlice(blocks_, first, rows);
    for (int64_t r = 0; r < rows; ++r) {
      const auto p =
          positions.empty() ? static_cast<int32_t>(first + r) : positions[static_cast<size_t>(r)];
      batch.PushPosition(p, p, p);
    }
    Mat x(rows, sizes().hidden_size);
    parts_.text->Embed(ids, x.View());
    parts_.text->Forward(batch, pool_, x.View(), *workspace_, observer);
    return x;
  }

  Mat Logits(ConstMatView hidden) {
    Mat logits(hidden.rows, sizes().vocab_size);
    parts_.text->Logits(hidden, logits.View(), *workspace_);
    return logits;
  }

  // The tokens greedy decoding gives behind a prompt, one at a time.
  std::vector<TokenId> Greedy(const std::vector<TokenId>& prompt, size_t count) {
    std::vector<TokenId> tokens;
    Mat hidden = Hidden(prompt, 0);
    for (auto length = static_cast<int64_t>(prompt.size()); tokens.size() < count; ++length) {
      const Mat logits = Logits(hidden.View().Rows(hidden.rows() - 1, 1));
      const auto best = std::max_element(logits.span().begin(), logits.span().end());
      tokens.push_back(static_cast<TokenId>(best - logits.span().begin()));
      hidden = Hidden({tokens.back()}, length);
    }
    return tokens;
  }

 private:
  std::unique_ptr<Architecture> architecture_;
  Checkpoint checkpoint_;
  std::string note_;
  TensorCheck check_;
  ModelParts parts_;
  KvPool pool_;
  std::unique_ptr<Workspace> workspace_;
  BlockTable blocks_;
};

// A golden decoder as the engine sees it: a prompt's text is its token ids, "6 28 24". Its
// tokenizer is another model's and of no meaning.
class IdPrompts final : public Architecture {
 public:
  explicit IdPrompts(std::unique_ptr<Architecture> of) : of_(std::move(of)) {}

  const TextSizes& text() const override { return of_->text(); }
  const VisionSizes* vision() const override { return nullptr; }
  const SpecialTokens& tokens() const override { return of_->tokens(); }
  std::string_view image_placeholder() const override { return {}; }
  std::string Settle(const Checkpoint& checkpoint) override { return of_->Settle(checkpoint); }
  ModuleTable Modules() const override { return of_->Modules(); }
  std::vector<Error> CheckTokens(const Tokenizer&) const override { return {}; }
  PromptInput BuildPrompt(const Tokenizer&, std::span<const PatchGrid>,
                          const std::string& text) const override {
    PromptInput prompt;
    std::istringstream ids(text);
    for (TokenId id = 0; ids >> id;) {
      for (auto& axis : prompt.positions) {
        axis.push_back(static_cast<int32_t>(prompt.input_ids.size()));
      }
      prompt.input_ids.push_back(id);
    }
    return prompt;
  }
  ModelParts Build(const KernelTable& kernels, VisionAttention attention) const override {
    return of_->Build(kernels, attention);
  }
  std::optional<DraftShape> Draft() const override { return of_->Draft(); }
  std::vector<FactSection> Facts() const override { return of_->Facts(); }
  std::vector<std::pair<std::string, std::string>> TokenFacts() const override { return {}; }
  nlohmann::ordered_json ConfigJson() const override { return of_->ConfigJson(); }

 private:
  std::unique_ptr<Architecture> of_;
};

inline std::unique_ptr<Model> LoadIdModel(const std::string& folder,
                                          Precision precision = Precision::kF32) {
  auto snapshot = std::make_unique<Snapshot>(Snapshot{
      .dir = folder,
      .architecture = std::make_unique<IdPrompts>(FamilyRegistry::BuiltIn().Read(folder)),
      .reading = {},
      .quantization = {},
      .tokenizer = Tokenizer::Load(SourcePath("tests/golden/snapshots/tiny-a/tokenizer.json")),
      .checkpoint = Checkpoint::Open(folder),
      .warnings = {}});
  snapshot->architecture->Settle(snapshot->checkpoint);
  return std::make_unique<Model>(std::move(snapshot), BestKernels(), precision);
}

inline std::string IdText(const std::vector<TokenId>& ids) {
  std::string text;
  for (const TokenId id : ids) text += std::to_string(id) + " ";
  return text;
}

}  // namespace platen::testing
