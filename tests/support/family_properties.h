// What every family must keep, whatever it computes: the same request gives the same bits alone and
// among others, with any draft length, block size, number of threads and kernel table.
//
// A family's own test includes this header and instantiates the suite with its cases; nothing here
// knows a family.
#pragma once

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/golden.h"

namespace platen::testing {

struct FamilyCase {
  std::string name;
  Precision precision = Precision::kF32;
  std::function<std::unique_ptr<Snapshot>()> load;
  // At least four requests of different lengths; every call gives the same.
  std::function<std::vector<Request>(const Model& model)> requests;
};

inline std::ostream& operator<<(std::ostream& out, const FamilyCase& family) {
  return out << family.name;
}

class FamilyProperties : public ::testing::TestWithParam<FamilyCase> {
 protected:
  struct Outcome {
    std::vector<TokenId> tokens;
    std::vector<float> probabilities;
    bool operator==(const Outcome&) const = default;
  };
  using Arrays = std::map<std::string, std::vector<float>>;

  std::unique_ptr<Model> Load(const KernelTable& kernels) const {
    return std::make_unique<Model>(GetParam().load(), kernels, GetParam().precision);
  }

  static std::vector<Request> RequestsOf(const Model& model) {
    std::vector<Request> requests = GetParam().requests(model);
    for (size_t i = 0; i < requests.size(); ++i) {
      Request& request = requests[i];
      request.max_new_tokens = 24;
      request.ignore_stop = true;
      // Greedy, drawn, with a penalty, drawn from few: in turn.
      if (i % 4 == 1) request.sampling = {.temperature = 0.9F, .seed = 7 * i};
      if (i % 4 == 2) request.sampling.repetition_penalty = 1.2F;
      if (i % 4 == 3) request.sampling = {.temperature = 0.6F, .top_k = 20, .top_p = 0.9F};
    }
    return requests;
  }

  static std::vector<TokenId> EverySecondToken(const Model& model) {
    std::vector<TokenId> ids;
    for (TokenId id = 1; id < model.architecture().text().vocab_size; id += 2) ids.push_back(id);
    return ids;
  }

  static Outcome OutcomeOf(const Sequence& s) { return {Decided(s), s.result.probabilities}; }

  static std::vector<Outcome> Alone(const Model& model, const EngineOptions& options) {
    std::vector<Outcome> outcomes;
    for (Request& request : RequestsOf(model)) {
      Engine engine(model, options);
      outcomes.push_back(OutcomeOf(*RunToEnd(engine, std::move(request))));
    }
    return outcomes;
  }

  // All requests at once, joining in groups of `group` while others already decode.
  static std::vector<Outcome> Together(const Model& model, const EngineOptions& options,
                                       size_t group) {
    Engine engine(model, options);
    std::vector<Request> requests = RequestsOf(model);
    std::vector<Outcome> outcomes(requests.size());
    std::map<const Sequence*, size_t> place;
    std::vector<std::unique_ptr<Sequence>> waiting;
    for (size_t i = 0; i < requests.size(); ++i) {
      waiting.push_back(engine.Prepare(std::move(requests[i])));
      place[waiting.back().get()] = i;
    }
    std::vector<std::unique_ptr<Sequence>> preempted;
    while (!waiting.empty() || !preempted.empty() || engine.live() > 0) {
      preempted = Resume(engine, std::move(preempted));
      std::vector<std::unique_ptr<Sequence>> joining;
      while (preempted.empty() && !waiting.empty() && joining.size() < group &&
             engine.TryReserve(*waiting.back())) {
        joining.push_back(std::move(waiting.back()));
        waiting.pop_back();
      }
      Start(engine, std::move(joining));
      for (const auto& s : engine.Step()) outcomes[place.at(s.get())] = OutcomeOf(*s);
      for (auto& s : engine.TakePreempted()) preempted.push_back(std::move(s));
    }
    EXPECT_EQ(engine.stats().kv_blocks_free, engine.stats().kv_blocks_total);
    return outcomes;
  }

  // Every array the observer sees for the requests, prefilled as one batch or one by one.
  static Arrays ArraysOf(const Model& model, bool one_by_one) {
    Recorder recorder;
    EngineOptions options;
    options.instruments.observer = recorder.observer();
    Engine engine(model, options);
    std::vector<std::unique_ptr<Sequence>> owned;
    std::vector<Sequence*> batch;
    for (Request& request : RequestsOf(model)) {
      owned.push_back(engine.Prepare(std::move(request)));
      batch.push_back(owned.back().get());
      if (!engine.TryReserve(*batch.back())) throw std::runtime_error("no KV blocks");
      if (one_by_one) {
        engine.EncodeImages(std::span(&batch.back(), 1));
        engine.Prefill(std::span(&batch.back(), 1));
      }
    }
    if (!one_by_one) {
      engine.EncodeImages(batch);
      engine.Prefill(batch);
    }
    for (Sequence* s : batch) engine.Discard(*s);
    return recorder.arrays;
  }

  template <typename Work>
  static void WithThreads(int threads, const Work& work) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute(work);
  }

  static void Start(Engine& engine, std::vector<std::unique_ptr<Sequence>> joining) {
    std::vector<Sequence*> batch;
    for (const auto& s : joining) batch.push_back(s.get());
    if (batch.empty()) return;
    engine.EncodeImages(batch);
    engine.Prefill(batch);
    for (auto& s : joining) engine.Submit(std::move(s));
  }
};

TEST_P(FamilyProperties, ARequestDecodesTheSameAloneAmongOthersAndWithAnyDraftLength) {
  const auto model = Load(BestKernels());
  EngineOptions plain;
  plain.draft_length = 0;
  const std::vector<Outcome> expected = Alone(*model, plain);
  ASSERT_GE(expected.size(), 4U);
  for (const int draft_length : {0, 1, 3, 8}) {
    for (const int block_tokens : {16, 64}) {
      for (const size_t group : {size_t{1}, size_t{2}, expected.size()}) {
        EngineOptions options;
        options.draft_length = draft_length;
        options.kv_block_tokens = block_tokens;
        options.adaptive_drafts = group != 2;  // the planner tries every number of drafts
        if (block_tokens == 64) options.draft_vocabulary = EverySecondToken(*model);
        EXPECT_EQ(Together(*model, options, group), expected)
            << "draft length " << draft_length << ", blocks of " << block_tokens << ", groups of "
            << group;
      }
    }
  }
}

TEST_P(FamilyProperties, OneTwoAndThreeThreadsGiveTheSameBits) {
  const auto model = Load(BestKernels());
  std::vector<std::vector<Outcome>> outcomes;
  for (const int threads : {1, 2, 3}) {
    WithThreads(threads, [&] { outcomes.push_back(Together(*model, {}, 3)); });
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
  EXPECT_EQ(outcomes[0], outcomes[2]);
}

TEST_P(FamilyProperties, EveryIntermediateArrayHasTheSameBitsTwiceOnAnyThreadsAndInABatch) {
  const auto model = Load(BestKernels());
  const Arrays one_by_one = ArraysOf(*model, true);
  ASSERT_TRUE(one_by_one.contains("layer0") && one_by_one.contains("hidden") &&
              one_by_one.contains("logits_last"));
  EXPECT_EQ(one_by_one.contains("vision_embeds"), model->vision() != nullptr);
  EXPECT_EQ(one_by_one.contains("mtp_prefill"), model->draft() != nullptr);
  for (const int threads : {1, 1, 2, 3}) {
    WithThreads(threads, [&] {
      const Arrays together = ArraysOf(*model, false);
      ASSERT_EQ(together.size(), one_by_one.size());
      for (const auto& [stage, values] : together) {
        const std::vector<float>& expected = one_by_one.at(stage);
        ASSERT_EQ(values.size(), expected.size()) << stage;
        EXPECT_EQ(std::memcmp(values.data(), expected.data(), values.size() * sizeof(float)), 0)
            << stage << " on " << threads << " threads";
      }
    });
  }
}

TEST_P(FamilyProperties, APoolTooSmallForAllMakesSequencesWaitAndChangesNothing) {
  const auto model = Load(BestKernels());
  const std::vector<Outcome> expected = Alone(*model, {});
  EngineOptions tight;
  tight.kv_block_tokens = 16;
  // Room for about two of the sequences.
  const CacheShape& cache = model->architecture().text().cache;
  tight.kv_cache_bytes = 150 * KvPool::TokenBytes(cache, KvTypeOf(model->precision()));
  EXPECT_EQ(Together(*model, tight, expected.size()), expected);
}

TEST_P(FamilyProperties, EveryKernelTableWithHeadsTogetherOrNotGivesTheSameTokensAndProbabilities) {
  const std::vector<Outcome> expected = Together(*Load(BestKernels()), {}, 6);
  for (const char* name : kKernelNames) {
    const KernelTable* table = FindKernels(name);
    if (table == nullptr) continue;
    KernelTable kernels = *table;
    for (const bool together : {false, true}) {  // whichever was faster at the start
      kernels.heads_together = together;
      EXPECT_EQ(Together(*Load(kernels), {}, 6), expected)
          << name << (together ? ", heads together" : ", head by head");
    }
  }
}

// The table is the one list of what a model is made of.
TEST_P(FamilyProperties, TheModuleTableIsTheCheckpointAndItsLinearsHaveTheirShapes) {
  const auto model = Load(BestKernels());
  const ModuleTable& table = model->modules();
  const Checkpoint& checkpoint = model->snapshot().checkpoint;
  std::set<std::string> names, tensors;
  for (const Module& module : table.modules()) {
    EXPECT_TRUE(names.insert(module.name).second) << module.name << " is described twice";
    for (const TensorSpec& spec : module.weights) {
      const StoredTensor* stored = FindTensor(checkpoint, spec);
      ASSERT_NE(stored, nullptr) << spec.name;
      EXPECT_EQ(stored->shape, spec.shape) << spec.name;
      tensors.insert(stored->name);
    }
    for (const TensorSpec& spec : module.biases) {
      const StoredTensor* stored = FindTensor(checkpoint, spec);
      ASSERT_NE(stored, nullptr) << spec.name;
      tensors.insert(stored->name);
    }
    const Linear* linear = module.linear();
    if (linear == nullptr) continue;
    EXPECT_EQ(linear->columns() * linear->depth() * (module.silu_mul ? 2 : 1), module.num_weights())
        << module.name;
  }
  for (const CopySpec& copy : table.copies()) tensors.insert(copy.tensor.name);
  for (const auto& [name, stored] : checkpoint.tensors())
    EXPECT_TRUE(tensors.contains(name)) << name;
}

inline std::string FamilyCaseName(const ::testing::TestParamInfo<FamilyCase>& info) {
  std::string name = info.param.name + "_" + PrecisionName(info.param.precision);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace platen::testing
