// Traces of the references' speculative decoding, round by round.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/golden.h"

namespace platen::testing {

// Rounds are compared one by one.
inline void ExpectRoundsEqual(const std::vector<Round>& rounds, const nlohmann::json& expected) {
  ASSERT_EQ(rounds.size(), expected.size());
  for (size_t i = 0; i < rounds.size(); ++i) {
    SCOPED_TRACE("round " + std::to_string(i));
    EXPECT_EQ(rounds[i].cache_len_before, expected[i]["target_len_before"].get<int64_t>());
    if (expected[i].contains("rope_pos_of_t_n")) {
      EXPECT_EQ(rounds[i].rope_position, expected[i]["rope_pos_of_t_n"].get<int64_t>());
    }
    EXPECT_EQ(rounds[i].anchor, expected[i]["t_n"].get<TokenId>());
    EXPECT_EQ(rounds[i].drafts, Ids(expected[i]["drafts"]));
    EXPECT_EQ(rounds[i].target_argmax, Ids(expected[i]["target_argmax"]));
    EXPECT_EQ(rounds[i].accepted, expected[i]["accepted"].get<int>());
    EXPECT_EQ(rounds[i].emitted, Ids(expected[i]["emitted"]));
  }
}

struct Decoded {
  std::vector<TokenId> decided, emitted;  // with and without the stop token
};

inline void CutTo(size_t count, std::vector<TokenId>& tokens) {
  const size_t kept = std::min(tokens.size(), count);
  tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(kept), tokens.end());
}

// The reference drafts to the full length up to the last token; we need room in the cache for that,
// so the limit lies further off and the last round is cut to the tokens the golden keeps.
inline Decoded DecodeWithFullDrafts(Engine& engine, Request request, size_t count,
                                    std::vector<Round>& rounds) {
  Sequence* sequence = Start(engine, std::move(request));
  std::vector<std::unique_ptr<Sequence>> finished;
  while (finished.empty() && static_cast<size_t>(sequence->num_decided()) < count) {
    finished = engine.Step();
  }
  Decoded decoded = {Decided(*sequence), sequence->result.tokens};
  const size_t beyond = decoded.decided.size() - std::min(decoded.decided.size(), count);
  CutTo(rounds.back().emitted.size() - beyond, rounds.back().emitted);
  CutTo(count, decoded.decided);
  CutTo(count, decoded.emitted);
  return decoded;
}

// Every run of a speculative.json through the engine, with drafts by what the model has of its own.
// `request`: images and text of a run.
inline void ExpectRunsEqual(const Model& model, const nlohmann::json& runs,
                            const std::function<Request(const nlohmann::json& run)>& request) {
  ASSERT_FALSE(runs.empty());
  for (const auto& [name, run] : runs.items()) {
    SCOPED_TRACE(name);
    std::vector<Round> rounds;
    EngineOptions options;
    options.draft_length = run["k"].get<int>();
    options.drafters = DrafterChoice::kMtp;
    options.instruments.full_drafts = true;
    options.kv_block_tokens = 16;
    options.instruments.on_round = [&](const Round& round) { rounds.push_back(round); };
    Engine engine(model, options);
    Request asked = request(run);
    asked.stop = Ids(run["stop_ids"]);
    asked.ignore_stop = asked.stop.empty();
    asked.max_new_tokens = run["max_new_tokens"].get<int>() + 1 + options.draft_length;
    const std::vector<TokenId> expected = Ids(run["tokens"]);
    const Decoded decoded = DecodeWithFullDrafts(engine, std::move(asked), expected.size(), rounds);
    EXPECT_EQ(decoded.decided, expected);
    ExpectRoundsEqual(rounds, run["rounds"]);
  }
}

}  // namespace platen::testing
