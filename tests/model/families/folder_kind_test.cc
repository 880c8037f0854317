#include "model/families/folder_kind.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::SourcePath;
using testing::TempFolder;

FolderKind KindOf(const std::string& path) { return KindOfFolder(path, FamilyRegistry::BuiltIn()); }

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(KindOfFolder, NamesTheArchitecture) {
  const FolderKind reader = KindOf(SourcePath("assets/platen-mini"));
  EXPECT_TRUE(reader.is_snapshot);
  EXPECT_TRUE(reader.what.starts_with("model snapshot, architecture GLM-OCR")) << reader.what;
  const TempFolder layout;
  layout.Write("config.json", R"({"model_type": "pp_doclayout_v3"})");
  EXPECT_TRUE(Has(KindOf(layout.path()).what, "architecture PP-DocLayoutV3"));
  const TempFolder other;
  other.Write("config.json", R"({"model_type": "bert"})");
  EXPECT_EQ(KindOf(other.path()).what, "model snapshot, of no architecture that platen knows");
  EXPECT_TRUE(KindOf(other.path()).is_snapshot);
}

TEST(KindOfFolder, SaysForWhatWeightsArePacked) {
  const TempFolder folder;
  folder.Write("config.json", R"({"model_type": "glm_ocr"})");
  folder.Write("model.int8.packed", "");
  folder.Write("model.f32.packed", "");
  folder.Write("model.int8.packed.tmp", "");
  EXPECT_EQ(KindOf(folder.path()).what,
            "model snapshot, architecture GLM-OCR, weights packed for f32 and int8");
}

TEST(KindOfFolder, SaysThatWeightsWereNotDownloaded) {
  const TempFolder folder;
  folder.Write("config.json", R"({"model_type": "glm_ocr"})");
  folder.Write("model.safetensors",
               "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 3\n");
  const FolderKind kind = KindOf(folder.path());
  EXPECT_TRUE(kind.is_snapshot);
  EXPECT_TRUE(Has(kind.what, "model.safetensors is a Git LFS pointer")) << kind.what;
}

TEST(KindOfFolder, TellsWhatElseAFolderIs) {
  const struct {
    const char* file;
    const char* what;
  } cases[] = {
      {"glm-ocr-q8.gguf", "GGUF file, which is not read"},
      {"model.int8.packed", "packed weights without the snapshot"},
      {"GLM-OCR/config.json", "but GLM-OCR in it may be one"},
      {"photo.png", "not a model folder: it has no config.json"},
  };
  for (const auto& [file, what] : cases) {
    const TempFolder folder;
    folder.Write(file, "");
    EXPECT_TRUE(Has(KindOf(folder.path()).what, what)) << KindOf(folder.path()).what;
    EXPECT_FALSE(KindOf(folder.path()).is_snapshot);
  }
  const TempFolder cached;
  cached.Write("snapshots/abc/config.json", "{}");
  cached.Write("refs/main", "");
  EXPECT_TRUE(Has(KindOf(cached.path()).what, "a model of the Hugging Face cache"));
  const TempFolder damaged;
  damaged.Write("tokenizer.json", "{}");
  EXPECT_TRUE(KindOf(damaged.path()).is_snapshot);
  EXPECT_EQ(KindOf(damaged.path()).what, "model snapshot without config.json");
}

TEST(KindOfFolder, TellsWhatAFileIs) {
  const TempFolder folder;
  const std::string gguf = folder.Write("weights.bin", "GGUF\3");
  EXPECT_TRUE(Has(KindOf(gguf).what, "a GGUF file")) << KindOf(gguf).what;
  EXPECT_TRUE(Has(KindOf(folder.Write("model.int8.packed", "")).what, "packed weights"));
  EXPECT_TRUE(Has(KindOf(folder.Write("m.safetensors", "")).what, "give the folder"));
  EXPECT_TRUE(Has(KindOf(folder.Write("GGU", "GGU")).what, "not a model folder"));
}

TEST(KindOfFolder, HintsAtTheDownloadOfWhatIsNotThere) {
  EXPECT_EQ(KindOf("owner/no-such").what,
            "no such folder; platen fetch owner/no-such downloads it");
  EXPECT_EQ(KindOf("/no/such/folder").what, "no such folder");
}

}  // namespace
}  // namespace platen
