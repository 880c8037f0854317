// What the engine is asked for a crop: the run's word first, then the kind's, then the standard.
#include "stages/crop_request.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

ReadingConfig Config() {
  ReadingConfig config;
  config.prompts = {{"text", "Text:"}, {"table", "Table:"}, {"formula", "Formula:"}};
  SetStandardKinds(config);
  KindReading& table = config.kinds[static_cast<size_t>(RegionKind::kTable)];
  table.max_new_tokens = 700;
  table.decoding = {.temperature = 0.5F,
                    .top_k = 9,
                    .top_p = 0.75F,
                    .repetition_penalty = 1.25F,
                    .min_new_tokens = 4,
                    .draft_length = 2};
  return config;
}

TEST(CropRequest, AKindHasItsOwnWayOfDecoding) {
  const RequestOptions table = CropRequest(RegionKind::kTable, Config(), {});
  EXPECT_EQ(table.task_text, "Table:");
  EXPECT_EQ(table.max_new_tokens, 700);
  EXPECT_EQ(table.sampling.temperature, 0.5F);
  EXPECT_EQ(table.sampling.top_k, 9);
  EXPECT_EQ(table.sampling.top_p, 0.75F);
  EXPECT_EQ(table.sampling.repetition_penalty, 1.25F);
  EXPECT_EQ(table.min_new_tokens, 4);
  EXPECT_EQ(table.drafting.length, 2);
  const RequestOptions text = CropRequest(RegionKind::kText, Config(), {});
  EXPECT_TRUE(text.sampling.greedy());
  EXPECT_EQ(text.drafting.length, -1);
}

TEST(CropRequest, WhatTheRunSaysWins) {
  ReadOptions options;
  options.max_new_tokens = 50;
  options.sampling = {.temperature = 0.2F, .repetition_penalty = 1.5F, .seed = 8};
  const RequestOptions table = CropRequest(RegionKind::kTable, Config(), options);
  EXPECT_EQ(table.max_new_tokens, 50);
  EXPECT_EQ(table.sampling.temperature, 0.2F);
  EXPECT_EQ(table.sampling.repetition_penalty, 1.5F);
  EXPECT_EQ(table.sampling.top_k, 9);  // the run has left it
  EXPECT_EQ(table.sampling.seed, 8U);
}

// A task for all regions leaves the kinds, and what they ask for, aside.
TEST(CropRequest, ATaskForAllRegionsIsReadInOneWay) {
  ReadOptions options;
  options.task = "formula";
  const RequestOptions table = CropRequest(RegionKind::kTable, Config(), options);
  EXPECT_EQ(table.task_text, "Formula:");
  EXPECT_TRUE(table.sampling.greedy());
  EXPECT_EQ(table.max_new_tokens, 0);
}

}  // namespace
}  // namespace platen
