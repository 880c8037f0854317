// Speculative decoding as slowly and plainly as it can be said: one request, nothing kept between
// rounds but its tokens. Every round runs the target over the whole text and the draft layer over
// all of its slots anew. It shares the model's layers with the engine and nothing of the engine's
// state: no cache that grows, no lagging rows, no lengths to roll back.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "model/engine/engine_options.h"
#include "model/engine/teacher_forced.h"
#include "model/families/model.h"

namespace platen::testing {

class MirrorEngine {
 public:
  MirrorEngine(const Model& model, int draft_length) : model_(model), k_(draft_length) {}

  // Greedy. `s`: prepared, its images encoded. Every round it takes, the prefill aside.
  std::vector<Round> Run(const Sequence& s) {
    std::vector<Round> rounds;
    std::vector<TokenId> answer = {Best(TargetHidden(s, {}), s.prompt_len() - 1)};
    while (!Ended(s, answer)) {
      Round round;
      round.sequence = s.id;
      round.cache_len_before = s.prompt_len() + std::ssize(answer) - 1;
      round.rope_position = round.cache_len_before + s.prompt.rope_delta;
      round.anchor = answer.back();
      round.drafts = Draft(s, answer);
      std::vector<TokenId> text = answer;
      text.insert(text.end(), round.drafts.begin(), round.drafts.end());
      const Mat hidden = TargetHidden(s, text);
      for (size_t j = 0; j <= round.drafts.size(); ++j) {
        round.target_argmax.push_back(
            Best(hidden, round.cache_len_before + static_cast<int64_t>(j)));
      }
      const auto wrong =
          std::mismatch(round.drafts.begin(), round.drafts.end(), round.target_argmax.begin());
      round.accepted = static_cast<int>(wrong.first - round.drafts.begin());
      for (int j = 0; j <= round.accepted && !Ended(s, answer); ++j) {
        answer.push_back(round.target_argmax[static_cast<size_t>(j)]);
        round.emitted.push_back(answer.back());
      }
      rounds.push_back(std::move(round));
    }
    return rounds;
  }

 private:
  static bool Ended(const Sequence& s, const std::vector<TokenId>& answer) {
    return s.IsStop(answer.back()) || std::ssize(answer) >= s.max_new_tokens;
  }

  // [rows of prompt and `answer`, D]
  Mat TargetHidden(const Sequence& s, const std::vector<TokenId>& answer) {
    TeacherForcedPass pass(model_);
    return Copy(pass.HiddenOfAll(s, answer));
  }
  static Mat Copy(ConstMatView rows) {
    Mat copy(rows.rows, rows.cols);
    for (int64_t r = 0; r < rows.rows; ++r) {
      std::copy_n(rows.Row(r), rows.cols, copy.View().Row(r));
    }
    return copy;
  }
  TokenId Best(const Mat& hidden, int64_t row) {
    const auto workspace = model_.text().MakeWorkspace();
    Mat logits(1, model_.architecture().text().vocab_size);
    model_.text().Logits(hidden.View().Rows(row, 1), logits.View(), *workspace);
    const float* z = logits.View().Row(0);
    return static_cast<TokenId>(std::max_element(z, z + logits.View().cols) - z);
  }

  // Slot i takes the target's row i and token i + 1; the last one's output is d1. A chained slot
  // takes the draft layer's own output and the draft before.
  std::vector<TokenId> Draft(const Sequence& s, const std::vector<TokenId>& answer) {
    const int64_t useful = s.max_new_tokens - std::ssize(answer) - 1;
    const auto wanted = static_cast<size_t>(std::clamp<int64_t>(useful, 0, k_));
    std::vector<TokenId> drafts;
    if (wanted == 0) return drafts;
    std::vector<TokenId> ids(s.tokens.begin(), s.tokens.begin() + s.prompt_len());
    ids.insert(ids.end(), answer.begin(), answer.end());
    ids.erase(ids.begin());
    const auto slots = static_cast<int64_t>(ids.size());
    const TextSizes& sizes = model_.architecture().text();
    const KvType type = KvTypeOf(model_.precision());
    KvPool pool(sizes.cache, type, 32, (slots + 100) * KvPool::TokenBytes(sizes.cache, type));
    BlockTable blocks;
    pool.Take(pool.BlocksFor(slots + k_), blocks);
    const auto layer = model_.draft()->MakeWorkspace();
    Mat hidden = TargetHidden(s, {answer.begin(), answer.end() - 1});
    for (int64_t first = 0; drafts.size() < wanted;) {
      const auto count = static_cast<int64_t>(ids.size());
      RowBatch batch;
      batch.AddSlice(blocks, first, count);
      for (int64_t slot = first; slot < first + count; ++slot) {
        batch.PushPosition(s.RopePosition(slot, 0), s.RopePosition(slot, 1),
                           s.RopePosition(slot, 2));
      }
      Mat embeddings(count, sizes.hidden_size);
      model_.text().Embed(ids, embeddings.View());
      model_.draft()->Forward(embeddings.View(), hidden.View(), batch, pool, *layer);
      hidden = Copy(layer->normed.View().Rows(count - 1, 1));
      drafts.push_back(Best(hidden, 0));
      if (s.IsStop(drafts.back())) break;
      first += count;
      ids = {drafts.back()};
    }
    return drafts;
  }

  const Model& model_;
  const int k_;
};

}  // namespace platen::testing
