#include "model/training/tuner.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <filesystem>

#include "model/support/error.h"
#include "tests/support/training_golden.h"

namespace platen::testing {
namespace {

// The golden pages as twelve documents.
class TunerTest : public ::testing::Test {
 protected:
  TunerTest() : golden_("glm/tiny-a"), snapshot_(golden_.MakeBareSnapshot()) {
    for (int i = 0; i < 36; ++i) {
      pages_.push_back(golden_.pages()[static_cast<size_t>(i % 2)]);
      pages_.back().document = "document " + std::to_string(i / 3);
      pages_.back().place = std::to_string(i) + "/0";
    }
    options_.recipe.steps = 12;
    options_.recipe.warm_up = 2;
    options_.recipe.peak_rate = 2e-3;
    options_.rows_per_step = 60;
    options_.evaluate_every = 4;
  }

  struct Outcome {
    std::vector<float> values;
    std::vector<double> losses;
    double start = 0, best = 0;
    std::string best_file;
  };

  // `stop_after`: the tuner is dropped, as by kill -9, behind the first step so far, and another
  // goes on from the folder; 0: never.
  Outcome Run(const std::string& name, int64_t stop_after, const DraftShape* heads = nullptr) {
    const DraftShape& shape = heads != nullptr ? *heads : golden_.shape();
    const Folder folder = Folder::Open(folder_ / name, Folder::Missing::kCreate);
    Outcome outcome;
    for (bool stopped = stop_after == 0;; stopped = true) {
      Parameters<float> parameters = golden_.MakeOrRandom(shape);
      EngineDraft exact(snapshot_, shape, BestKernels(), Precision::kF32);
      EngineDraft deployed(snapshot_, shape, BestKernels(), Precision::kInt8);
      Tuner tuner(parameters, exact, deployed, pages_, options_, folder, MetadataOf(shape));
      bool again = false;
      while (!tuner.done()) {
        const TuneStep step = tuner.Step();
        outcome.losses.push_back(step.loss);
        if (!stopped && step.step == stop_after) {
          again = true;
          break;
        }
      }
      if (again) continue;
      for (size_t t = 0; t < shape.tensors.size(); ++t) {
        const auto values = parameters.values(t);
        outcome.values.insert(outcome.values.end(), values.begin(), values.end());
      }
      outcome.start = tuner.start_tokens_per_round();
      outcome.best = tuner.best_tokens_per_round();
      outcome.best_file = ReadFile(folder_ / (name + "/" + Tuner::kBestFile));
      return outcome;
    }
  }

  TempFolder folder_;
  TrainingGolden golden_;
  Snapshot snapshot_;
  std::vector<TrainingPage> pages_;
  TuneOptions options_;
};

TEST_F(TunerTest, LearnsThePagesByHeart) {
  options_.recipe.steps = 60;
  options_.recipe.warm_up = 5;
  const Outcome outcome = Run("a", 0);
  EXPECT_LT(outcome.losses.back(), 0.1 * outcome.losses.front());
  EXPECT_GT(outcome.best, outcome.start + 0.3);
}

// Behind a checkpoint, and two steps behind one.
TEST_F(TunerTest, StoppedItGoesOnToTheSameBits) {
  const Outcome whole = Run("whole", 0);
  for (const int64_t after : {int64_t{4}, int64_t{6}, int64_t{1}}) {
    const Outcome stopped = Run("stopped" + std::to_string(after), after);
    EXPECT_EQ(stopped.values, whole.values) << after;
    EXPECT_EQ(stopped.best_file, whole.best_file) << after;
    EXPECT_EQ(stopped.best, whole.best) << after;
  }
}

TEST_F(TunerTest, TheNumberOfThreadsDoesNotMatter) {
  const Outcome two = Run("two", 0);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  const Outcome one = Run("one", 0);
  EXPECT_EQ(one.values, two.values);
}

TEST_F(TunerTest, HeadsAreTrainedFromNothing) {
  const DraftShape heads = ResidualHeadsShape(2, 48, 32, 1e-5, Activation::kSilu);
  options_.recipe.steps = 60;
  options_.recipe.warm_up = 5;
  options_.recipe.peak_rate = 1e-2;
  options_.steps_of_chain = 2;
  const Outcome outcome = Run("heads", 0, &heads);
  EXPECT_LT(outcome.losses.back(), 0.3 * outcome.losses.front());
  EXPECT_GT(outcome.best, outcome.start + 0.2);
}

TEST_F(TunerTest, AFolderOfOtherOptionsOrPagesIsRefused) {
  Run("a", 0);
  const auto refused = [&] {
    try {
      Run("a", 0);
      return false;
    } catch (const Error& e) {
      return e.kind() == ErrorKind::kInput && e.reason().find("begin anew") != std::string::npos;
    }
  };
  options_.recipe.peak_rate = 1e-3;
  EXPECT_TRUE(refused());
  options_.recipe.peak_rate = 2e-3;
  EXPECT_FALSE(refused());
  pages_[4].ids.back() = 9;
  EXPECT_TRUE(refused());
}

// Damaged, or written by somebody else: no training without end, and none whose best weights are
// gone.
TEST_F(TunerTest, AFolderThatIsDamagedSaysHowToBeginAnew) {
  Run("a", 0);
  const std::string checkpoint = ReadFile(folder_ / "a/checkpoint.safetensors");
  const std::string best = ReadFile(folder_ / "a/best.safetensors");
  const auto expect_refused = [&](const std::string& field) {
    try {
      Run("a", 0);
      ADD_FAILURE() << field;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
      EXPECT_NE(e.reason().find("begin anew"), std::string::npos) << e.what();
      EXPECT_EQ(e.location().field, field) << e.what();
    }
    folder_.Write("a/checkpoint.safetensors", checkpoint);
    folder_.Write("a/best.safetensors", best);
  };
  for (const size_t bytes : {size_t{0}, size_t{5}, size_t{100}}) {
    folder_.Write("a/checkpoint.safetensors", checkpoint.substr(0, bytes));
    expect_refused("");
    folder_.Write("a/best.safetensors", best.substr(0, bytes));
    expect_refused("");
  }
  std::filesystem::remove(folder_ / "a/best.safetensors");
  expect_refused("");
  for (const char* steps : {"-1", "13", "1x", "  ", "99"}) {
    std::string changed = checkpoint;
    const std::string key = "\"steps\":\"";
    const size_t at = changed.find(key);
    ASSERT_NE(at, std::string::npos);
    changed.replace(at + key.size(), 2, steps);
    folder_.Write("a/checkpoint.safetensors", changed);
    expect_refused("steps");
  }
  Run("a", 0);
}

TEST_F(TunerTest, DocumentsAreSplitByTheirNames) {
  const auto count = [&](size_t documents, Part part) {
    std::vector<TrainingPage> pages(documents);
    for (size_t i = 0; i < documents; ++i) pages[i].document = "page-" + std::to_string(i);
    const auto parts = SplitDocuments(pages, 1);
    EXPECT_EQ(parts, SplitDocuments(pages, 1));
    return std::count_if(parts.begin(), parts.end(),
                         [&](const auto& entry) { return entry.second == part; });
  };
  EXPECT_EQ(count(100, Part::kTrain), 70);
  EXPECT_EQ(count(100, Part::kChoose), 10);
  EXPECT_EQ(count(100, Part::kJudge), 20);
  for (const Part part : {Part::kTrain, Part::kChoose, Part::kJudge}) EXPECT_EQ(count(3, part), 1);
  pages_.resize(3);  // one document
  EXPECT_THROW(Run("few", 0), Error);
}

}  // namespace
}  // namespace platen::testing
