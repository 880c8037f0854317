// A stream of requests: answers in order, in bounded memory, errors in their places.
#include "model/engine/session.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kCases[] = {"tiny20", "two_images", "text_only"};

class SessionTest : public ::testing::Test {
 protected:
  Request RequestOf(size_t i) const {
    Request request = GoldenRequest(
        model_, GoldenCase(std::string("tests/golden/cases/tiny-a/") + kCases[i % 3]));
    request.max_new_tokens = 1 + static_cast<int>(i * 7 % 30);
    request.ignore_stop = true;
    return request;
  }

  const Model& model_ = GoldenModel("tiny-a");
};

TEST_F(SessionTest, AnswersComeInTheOrderOfTheRequestsWhateverTheirLength) {
  constexpr size_t kRequests = 25;
  for (const size_t window : {1, 3, 100}) {
    for (const int64_t blocks : {9, 1000}) {
      SessionOptions options;
      options.window = window;
      options.engine.kv_block_tokens = 16;
      options.engine.kv_cache_bytes =
          blocks * 16 *
          KvPool::TokenBytes(model_.architecture().text().cache, KvTypeOf(model_.precision()));
      Session session(model_, options);
      size_t asked = 0, answered = 0;
      session.Stream(
          [&]() -> std::optional<Session::Asked> {
            EXPECT_LE(asked - answered, window);
            if (asked == kRequests) return std::nullopt;
            const size_t i = asked++;
            if (i % 5 == 4) return Session::Asked{{}, "not this one"};
            return Session::Asked{RequestOf(i), ""};
          },
          [&](const Session::Result& result) {
            const size_t i = answered++;
            if (i % 5 == 4) {
              EXPECT_EQ(result.error, "not this one");
              EXPECT_EQ(result.sequence, nullptr);
              return;
            }
            ASSERT_NE(result.sequence, nullptr) << result.error;
            EXPECT_EQ(result.sequence->result.tokens.size(), 1 + i * 7 % 30);
          });
      EXPECT_EQ(answered, kRequests);
      EXPECT_EQ(session.stats().kv_blocks_free, session.stats().kv_blocks_total);
    }
  }
}

TEST_F(SessionTest, WhatItsFunctionsThrowComesOutAndItCanBeUsedAgain) {
  Session session(model_, {});
  for (const bool in_next : {true, false}) {
    size_t asked = 0;
    EXPECT_THROW(session.Stream(
                     [&]() -> std::optional<Session::Asked> {
                       if (in_next && asked == 3) throw std::runtime_error("next");
                       if (asked == 6) return std::nullopt;
                       return Session::Asked{RequestOf(asked++), ""};
                     },
                     [&](const Session::Result&) {
                       if (!in_next) throw std::runtime_error("done");
                     }),
                 std::runtime_error);
    EXPECT_EQ(session.stats().kv_blocks_free, session.stats().kv_blocks_total);
    std::vector<Request> requests;
    requests.push_back(RequestOf(1));
    EXPECT_EQ(session.Run(std::move(requests)).size(), 1U);
  }
}

TEST_F(SessionTest, ARequestThatCanNeverFitLeavesItsReason) {
  SessionOptions options;
  options.engine.kv_cache_bytes = 1;
  Session session(model_, options);
  std::vector<Request> requests;
  requests.push_back(RequestOf(1));
  requests.push_back(RequestOf(2));
  const auto results = session.Run(std::move(requests));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_NE(results[0].error.find("--kv-cache-mib"), std::string::npos) << results[0].error;
}

}  // namespace
}  // namespace platen::testing
