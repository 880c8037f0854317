// platen pack, and the files the other commands keep.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;
using Words = std::vector<std::string>;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class PackTest : public ::testing::Test {
 protected:
  PackTest() {
    fs::copy(SourcePath("assets/platen-mini"), model_);
    fs::remove(beside_);  // somebody may have packed the model of the source tree
  }

  // With a cache folder of its own instead of the user's.
  ProgramResult Program(Words words) {
    return RunProgram({.words = std::move(words), .environment = {"XDG_CACHE_HOME=" + cache_}});
  }
  Words Forward(Words more = {}) {
    std::string line = "P5 280 28 255\n";  // of bars
    for (int i = 0; i < 280 * 28; ++i) line += i / 7 % 2 == 0 ? '\x20' : '\xFF';
    Words words = {"forward",          model_, "--image",     folder_.Write("line.pgm", line),
                   "--max-new-tokens", "12",   "--precision", "int8"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<std::string> Cached() {
    std::vector<std::string> names;
    if (!fs::exists(cache_ + "/platen")) return names;
    for (const auto& entry : fs::directory_iterator(cache_ + "/platen")) {
      names.push_back(entry.path().string());
    }
    return names;
  }
  // The file beside the snapshot cannot be written, whoever runs the test.
  void BlockTheSnapshotFolder() { fs::create_directory(beside_ + ".tmp"); }

  const TempFolder folder_;
  const std::string model_ = folder_ / "model";
  const std::string beside_ = model_ + "/model.int8.packed";
  const std::string cache_ = folder_ / "cache";
};

TEST_F(PackTest, PacksBesideTheSnapshotOnce) {
  const ProgramResult first = Program({"pack", model_, "--precision", "int8"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(Contains(first.out, beside_)) << first.out;
  const std::string packed = ReadFile(beside_);
  const auto time = fs::last_write_time(beside_);
  const ProgramResult second = Program({"pack", model_, "--precision", "int8", "--verify"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_TRUE(Contains(second.out, "current, checked")) << second.out;
  EXPECT_EQ(fs::last_write_time(beside_), time);
  EXPECT_EQ(Program({"pack", model_, "--precision", "int8", "--force"}).exit_code, 0);
  EXPECT_NE(fs::last_write_time(beside_), time);
  EXPECT_EQ(ReadFile(beside_), packed);
  EXPECT_TRUE(Cached().empty());
}

TEST_F(PackTest, ResultsAreTheSameWithAndWithoutTheFile) {
  const ProgramResult plain = Program(Forward({"--packed", "never"}));
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_FALSE(fs::exists(beside_));
  const ProgramResult written = Program(Forward({"--packed", "always"}));
  EXPECT_TRUE(Contains(written.err, "packing the weights into")) << written.err;
  EXPECT_TRUE(fs::exists(beside_));
  const ProgramResult found = Program(Forward({"--packed", "always"}));
  EXPECT_EQ(found.err, "");
  EXPECT_EQ(written.out, plain.out);
  EXPECT_EQ(found.out, plain.out);
}

TEST_F(PackTest, SmallModelsAreNotKeptUnlessAskedFor) {
  EXPECT_EQ(Program(Forward()).exit_code, 0);
  EXPECT_FALSE(fs::exists(beside_));
  EXPECT_TRUE(Cached().empty());
}

TEST_F(PackTest, ADamagedFileIsAWarningAndIsReplaced) {
  const ProgramResult plain = Program(Forward({"--packed", "never"}));
  Program({"pack", model_, "--precision", "int8"});
  const std::string good = ReadFile(beside_);
  std::ofstream(beside_, std::ios::binary) << good.substr(0, good.size() / 3);
  const ProgramResult result = Program(Forward({"--packed", "always"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(Contains(result.err, "warning")) << result.err;
  EXPECT_EQ(result.out, plain.out);
  EXPECT_EQ(ReadFile(beside_), good);
}

TEST_F(PackTest, VerifyFindsAndMendsDamageInsideTheWeights) {
  Program({"pack", model_, "--precision", "int8"});
  const std::string good = ReadFile(beside_);
  std::string bad = good;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
  std::ofstream(beside_, std::ios::binary) << bad;
  EXPECT_EQ(Program({"pack", model_, "--precision", "int8"}).exit_code, 0);
  EXPECT_EQ(ReadFile(beside_), bad);  // nobody looked
  const ProgramResult result = Program({"pack", model_, "--precision", "int8", "--verify"});
  EXPECT_TRUE(Contains(result.err, "checksum mismatch")) << result.err;
  EXPECT_EQ(ReadFile(beside_), good);
}

TEST_F(PackTest, WhereTheSnapshotCannotBeWrittenToTheUsersCacheServes) {
  BlockTheSnapshotFolder();
  const ProgramResult result = Program({"pack", model_, "--precision", "int8"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(Cached().size(), 1);
  EXPECT_TRUE(Contains(result.out, Cached()[0])) << result.out;
  EXPECT_EQ(Program(Forward({"--packed", "always"})).err, "");
}

TEST_F(PackTest, TheFolderCanBeChosen) {
  const std::string elsewhere = folder_ / "deep/er";
  const ProgramResult result =
      Program({"pack", model_, "--precision", "int8", "--packed-dir", elsewhere});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, elsewhere)) << result.out;
  EXPECT_FALSE(fs::exists(beside_));
  const ProgramResult found = RunProgram({.words = Forward({"--packed", "always"}),
                                          .environment = {"PLATEN_PACKED_DIR=" + elsewhere}});
  EXPECT_EQ(found.err, "");
}

TEST_F(PackTest, NowhereToWriteIsAnErrorOfPackAlone) {
  BlockTheSnapshotFolder();
  folder_.Write("cache", "a file is in the way");
  const ProgramResult pack = Program({"pack", model_, "--precision", "int8"});
  EXPECT_EQ(pack.exit_code, 3);
  EXPECT_EQ(pack.out, "");
  const ProgramResult forward = Program(Forward({"--packed", "always"}));
  EXPECT_EQ(forward.exit_code, 0);
  EXPECT_TRUE(Contains(forward.err, "packed in memory")) << forward.err;
}

TEST_F(PackTest, ManyAtOnceMakeOneGoodFile) {
  const std::string expected = Program(Forward({"--packed", "never"})).out;
  std::vector<ProgramResult> results(4);
  {
    std::vector<std::jthread> starters;
    for (ProgramResult& result : results) {
      starters.emplace_back([&] { result = Program(Forward({"--packed", "always"})); });
    }
  }
  for (const ProgramResult& result : results) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, expected);
  }
  const ProgramResult check = Program({"pack", model_, "--precision", "int8", "--verify"});
  EXPECT_TRUE(Contains(check.out, "current, checked")) << check.out << check.err;
  EXPECT_FALSE(fs::exists(beside_ + ".tmp"));
}

TEST_F(PackTest, ARunNamesTheSameModelWithAndWithoutTheFile) {
  folder_.Write("in/blank.pgm", "P5 60 40 255\n" + std::string(60 * 40, '\xFF'));
  std::vector<nlohmann::json> models;
  for (const char* packed : {"never", "always", "always"}) {
    Program({"ocr", folder_ / "in", "-o", folder_ / "out", "--model", model_, "--packed", packed});
    models.push_back(nlohmann::json::parse(ReadFile(folder_ / "out/run.json"))["model"]);
  }
  EXPECT_EQ(models[1]["id"], models[0]["id"]);
  EXPECT_EQ(models[2]["id"], models[0]["id"]);
  EXPECT_EQ(models[0]["packed_file"], "");
  EXPECT_NE(models[2]["packed_file"], "");
}

TEST_F(PackTest, DoctorSaysHowTheFileStands) {
  const Words doctor = {"doctor", "--model", model_};
  EXPECT_TRUE(Contains(Program(doctor).out, "packed         none"));
  Program({"pack", model_});
  EXPECT_TRUE(Contains(Program(doctor).out, "current")) << Program(doctor).out;
}

}  // namespace
}  // namespace platen
