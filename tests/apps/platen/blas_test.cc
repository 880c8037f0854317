// OpenBLAS as the program's user meets it: doctor, the option, the start-up test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// "" for what cannot be read: a process may have ended.
std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The core type comes from each test alone.
class BlasTest : public ::testing::Test {
 protected:
  BlasTest() { ::unsetenv("OPENBLAS_CORETYPE"); }

  static ProgramResult Run(std::vector<std::string> words, const std::string& core) {
    return RunProgram(ProgramRun{std::move(words), "", {"OPENBLAS_CORETYPE=" + core}});
  }
  // The core type on doctor's OpenBLAS line.
  static std::string CoreOf(const std::string& doctor) {
    const std::string before = ", core type ";
    const size_t at = doctor.find(before, doctor.find("\nOpenBLAS"));
    if (at == std::string::npos) return "";
    const size_t begin = at + before.size();
    return doctor.substr(begin, doctor.find(' ', begin) - begin);
  }
  static bool HasAvx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }

  const std::string image_ = SourcePath("assets/samples/synthetic/letter-200.jpg");
  TempFolder folder_;
};

TEST_F(BlasTest, DoctorNamesACoreTypeThatSuitsTheCpu) {
  const ProgramResult result = RunProgram({"doctor"});
  const std::string core = CoreOf(result.out);
  if (HasAvx512()) {
    EXPECT_TRUE(core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids") << core;
  } else if (__builtin_cpu_supports("avx2")) {
    EXPECT_TRUE(core == "Haswell" || core == "Zen") << core;
  }
  EXPECT_NE(Contains(result.out, "--f32-gemm openblas can be used"),
            Contains(result.out, "--f32-gemm openblas is refused"))
      << result.out;
}

TEST_F(BlasTest, ACoreTypeFromTheEnvironmentIsKeptAndJudged) {
  const ProgramResult result = Run({"doctor"}, "Prescott");
  EXPECT_EQ(CoreOf(result.out), "Prescott");
  EXPECT_TRUE(Contains(result.out, "from OPENBLAS_CORETYPE")) << result.out;
  EXPECT_EQ(Contains(result.out, "is faster here"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_TRUE(
      Contains(Run({"doctor"}, "Nonsense").out, "OPENBLAS_CORETYPE asks for Nonsense in vain"));
}

TEST_F(BlasTest, ResultsThatDependOnTheBatchAreRefused) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "needs AVX2 for the core type Haswell";
  EXPECT_TRUE(Contains(Run({"doctor"}, "Haswell").out, "--f32-gemm openblas is refused"));
  const ProgramResult result =
      Run({"forward", "--image=" + image_, "--precision=f32", "--f32-gemm=openblas"}, "Haswell");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(Contains(result.err, "as core type Haswell its results depend on the batch"))
      << result.err;
}

TEST_F(BlasTest, ThePageHasTheSameTextAndNamesTheLibrary) {
  if (!HasAvx512()) GTEST_SKIP() << "needs AVX-512 for the core type SkylakeX";
  const auto read = [&](const std::string& gemm) {
    return Run({"ocr", image_, "-o", folder_ / "out", "--precision=f32", "--f32-gemm=" + gemm},
               "SkylakeX");
  };
  const auto text = [&] { return ReadFile(folder_ / "out/letter-200.jpg.txt"); };
  const auto settings = [&] {
    return nlohmann::json::parse(ReadFile(folder_ / "out/letter-200.jpg.json")).dump();
  };
  ASSERT_EQ(read("own").exit_code, 0);
  const std::string own = text();
  EXPECT_FALSE(Contains(settings(), "openblas"));
  ASSERT_EQ(read("openblas").exit_code, 0);  // other settings: read anew
  EXPECT_EQ(text(), own);
  EXPECT_TRUE(Contains(settings(), "\"precision\":\"f32-openblas\"")) << settings();
  EXPECT_TRUE(Contains(settings(), "SkylakeX")) << settings();
}

TEST_F(BlasTest, StartedAgainTheProcessKeepsItsName) {
  std::filesystem::create_directory(folder_ / "in");
  std::filesystem::create_symlink(image_, folder_ / "in/page.jpg");
  std::string name;
  ProgramRun run{{"ocr", folder_ / "in", "-o", folder_ / "out"}};
  run.meanwhile = [&](int pid) {
    const std::string process = "/proc/" + std::to_string(pid);
    if (!Contains(TextOf(process + "/environ"), "OPENBLAS_NUM_THREADS=1")) return;
    const std::string now = TextOf(process + "/comm");
    if (!now.empty()) name = now;
  };
  EXPECT_EQ(RunProgram(run).exit_code, 0);
  EXPECT_EQ(name, "platen\n");
}

TEST_F(BlasTest, ItIsForF32Alone) {
  const ProgramResult result = RunProgram({"forward", "--f32-gemm", "openblas"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.err, "--f32-gemm: openblas needs --precision f32")) << result.err;
}

}  // namespace
}  // namespace platen
