#include "model/hub/hub_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";
const std::string kSibling = "0123456fffffffffffffffffffffffffffffffff";
const std::string kBlob = "00000000000000000000000000000000000000aa";
const std::vector<std::string> kVariables = {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"};

// A cache with one model, o/n.
struct Cache {
  Cache() {
    folder.Write("models--o--n/refs/main", kCommit);
    folder.Write("models--o--n/blobs/" + kBlob, "{}");
    fs::create_directories(Snapshot());
    fs::create_symlink("../../blobs/" + kBlob, Snapshot() + "/config.json");
  }
  std::string Model() const { return folder / "models--o--n"; }
  std::string Snapshot(const std::string& commit = kCommit) const {
    return Model() + "/snapshots/" + commit;
  }
  std::string Find(const std::string& name) const {
    return FindCachedSnapshot(folder.path(), ParseModelName(name).value());
  }
  // What the error says; empty: there is none.
  std::string Failure(const std::string& name) const {
    try {
      Find(name);
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kModel);
      return e.what();
    }
  }

  TempFolder folder;
};

// The four variables, as they were, at its end.
class Environment {
 public:
  Environment() {
    for (const std::string& name : kVariables) {
      const char* value = std::getenv(name.c_str());
      before_.push_back(value == nullptr ? "" : value);
      ::unsetenv(name.c_str());
    }
  }
  ~Environment() {
    for (size_t i = 0; i < kVariables.size(); ++i) {
      ::setenv(kVariables[i].c_str(), before_[i].c_str(), 1);
    }
  }

 private:
  std::vector<std::string> before_;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HubCacheFolder, FollowsTheVariablesOfTheHubsPrograms) {
  const Environment environment;
  EXPECT_THROW(HubCacheFolder(), Error);
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(HubCacheFolder(), "/home/me/.cache/huggingface/hub");
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(HubCacheFolder(), "/cache/huggingface/hub");
  ::setenv("HF_HOME", "/hf", 1);
  EXPECT_EQ(HubCacheFolder(), "/hf/hub");
  ::setenv("HF_HUB_CACHE", "/models/", 1);
  EXPECT_EQ(HubCacheFolder(), "/models");
  ::setenv("HF_HUB_CACHE", "", 1);
  EXPECT_EQ(HubCacheFolder(), "/hf/hub");
}

TEST(FindCachedSnapshot, FindsBranchesCommitsAndTheirBeginnings) {
  const Cache cache;
  EXPECT_EQ(cache.Find("o/n"), cache.Snapshot());
  EXPECT_EQ(cache.Find("o/n@" + kCommit), cache.Snapshot());
  EXPECT_EQ(cache.Find("o/n@0123456"), cache.Snapshot());
  cache.folder.Write("models--o--n/refs/refs/pr/1", kCommit + "\n");
  EXPECT_EQ(cache.Find("o/n@refs/pr/1"), cache.Snapshot());
}

TEST(FindCachedSnapshot, SaysHowToGetWhatIsMissing) {
  const Cache cache;
  EXPECT_TRUE(Has(cache.Failure("o/other"), "platen fetch o/other")) << cache.Failure("o/other");
  EXPECT_TRUE(Has(cache.Failure("o/n@v2"), "platen fetch o/n@v2")) << cache.Failure("o/n@v2");
  EXPECT_TRUE(Has(cache.Failure("o/n@012345"), "is not in"));  // six digits are no commit
  EXPECT_TRUE(Has(cache.Failure("o/n@" + kSibling), "is not in"));
  fs::create_directories(cache.Snapshot(kSibling));
  EXPECT_TRUE(Has(cache.Failure("o/n@0123456"), "more than one commit"));
  EXPECT_EQ(cache.Find("o/n@01234567"), cache.Snapshot());
}

TEST(FindCachedSnapshot, RefusesARefThatIsNoCommit) {
  const Cache cache;
  for (const std::string& text : {std::string("../../.."), std::string("/etc"), std::string(),
                                  kCommit + "0", kCommit.substr(1), kCommit + "/.."}) {
    cache.folder.Write("models--o--n/refs/main", text);
    EXPECT_TRUE(Has(cache.Failure("o/n"), "40 hexadecimal digits")) << text;
  }
}

TEST(FindCachedSnapshot, RefusesLinksThatLeaveTheModelsFolder) {
  const TempFolder elsewhere;
  const std::string secret = elsewhere.Write("secret.json", "{}");
  for (const std::string& target : {secret, std::string("../../../../outside.json")}) {
    const Cache cache;
    fs::create_symlink(target, cache.Snapshot() + "/tokenizer.json");
    cache.folder.Write("outside.json", "{}");
    const std::string failure = cache.Failure("o/n");
    EXPECT_TRUE(Has(failure, "tokenizer.json") && !Has(failure, "config.json")) << failure;
  }
  const Cache cache;
  fs::rename(cache.Snapshot(), cache.folder / "moved");
  fs::create_symlink("../../moved", cache.Snapshot());
  EXPECT_TRUE(Has(cache.Failure("o/n"), "leads out of the model's folder"));
}

TEST(FindCachedSnapshot, SaysThatADownloadIsNotComplete) {
  const Cache cache;
  fs::create_symlink("../../blobs/none", cache.Snapshot() + "/model.safetensors");
  const std::string failure = cache.Failure("o/n");
  EXPECT_TRUE(Has(failure, "model.safetensors: was not downloaded completely")) << failure;
  EXPECT_TRUE(Has(failure, "platen fetch o/n"));
}

TEST(FindCachedSnapshot, TheModelsFolderMayLieOnAnotherDisk) {
  const Cache cache;
  const TempFolder disk;
  fs::rename(cache.Model(), disk / "n");
  fs::create_symlink(disk / "n", cache.Model());
  EXPECT_EQ(cache.Find("o/n"), cache.Snapshot());
}

TEST(ResolveModelFolder, TakesAFolderOfThatPathFirst) {
  const Environment environment;
  const Cache cache;
  ::setenv("HF_HUB_CACHE", cache.folder.path().c_str(), 1);
  EXPECT_EQ(ResolveModelFolder("o/n"), cache.Snapshot());
  const fs::path before = fs::current_path();
  fs::create_directories(cache.folder / "o/n");
  fs::current_path(cache.folder.path());
  EXPECT_EQ(ResolveModelFolder("o/n"), "o/n");
  fs::current_path(before);
  EXPECT_EQ(ResolveModelFolder(cache.folder.path()), cache.folder.path());
  EXPECT_THROW(ResolveModelFolder("nosuch"), Error);
}

TEST(LiesInHubCache, KnowsItsSnapshots) {
  const Cache cache;
  EXPECT_TRUE(LiesInHubCache(cache.Snapshot()));
  EXPECT_TRUE(LiesInHubCache(cache.Snapshot() + "/."));
  EXPECT_FALSE(LiesInHubCache(cache.Model()));
  EXPECT_FALSE(LiesInHubCache(cache.folder.path()));
  fs::create_symlink(cache.Snapshot(), cache.folder / "link");
  EXPECT_TRUE(LiesInHubCache(cache.folder / "link"));
}

}  // namespace
}  // namespace platen
