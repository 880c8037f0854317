// Whole snapshots: loading, the tensor tables, and reading weights.
#include "model/families/snapshot.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "model/families/inspect.h"
#include "model/support/error.h"
#include "tests/support/glm_ocr.h"
#include "tests/support/npy.h"
#include "tests/support/snapshot_edits.h"

namespace platen {
namespace {

using testing::GlmConfig;
using testing::SourcePath;

TEST(LoadSnapshot, LoadsTheOneFileBf16Snapshot) {
  const Snapshot snapshot = LoadSnapshot(SourcePath("tests/golden/snapshots/tiny-a"));
  EXPECT_EQ(GlmConfig(snapshot).text.head_dim, 16);
  EXPECT_EQ(GlmConfig(snapshot).text.q_size(), 64);
  EXPECT_EQ(GlmConfig(snapshot).text.num_mtp_layers, 1);
  EXPECT_EQ(GlmConfig(snapshot).tokens.stop, (std::vector<TokenId>{873, 880}));
  EXPECT_EQ(GlmConfig(snapshot).input.image_tokens.image, 907);
  EXPECT_EQ(snapshot.checkpoint.Find("lm_head.weight")->dtype, DType::kBF16);
  EXPECT_TRUE(snapshot.warnings.empty());
}

TEST(LoadSnapshot, LoadsTheShardedTiedF32Snapshot) {
  const Snapshot snapshot = LoadSnapshot(SourcePath("tests/golden/snapshots/tiny-b"));
  EXPECT_TRUE(GlmConfig(snapshot).text.tie_word_embeddings);
  EXPECT_EQ(snapshot.checkpoint.Find("lm_head.weight"), nullptr);
  EXPECT_EQ(snapshot.checkpoint.Find("model.language_model.norm.weight")->dtype, DType::kF32);
  EXPECT_EQ(GlmConfig(snapshot).input.vision.rope_theta,
            10000.0);  // the file has no vision rope_parameters
  EXPECT_EQ(GlmConfig(snapshot).text.rope_theta, 500.0);
  EXPECT_EQ(GlmConfig(snapshot).input.image_processor.max_pixels, 16000);
}

TEST(LoadSnapshot, LoadsTheSnapshotWithTheReleasedModelsRatios) {
  const Snapshot snapshot = LoadSnapshot(SourcePath("tests/golden/snapshots/tiny-c"));
  EXPECT_EQ(GlmConfig(snapshot).text.mrope_section, (std::array<int, 3>{16, 24, 24}));
}

TEST(LoadSnapshot, LoadsTheBundledModel) {
  const Snapshot snapshot = LoadSnapshot(SourcePath("assets/platen-mini"));
  EXPECT_TRUE(snapshot.reading.present);
  EXPECT_EQ(snapshot.reading.granularity, Granularity::kLine);
  EXPECT_EQ(snapshot.reading.prompts.at("text"), "Text Recognition:");
  EXPECT_TRUE(snapshot.warnings.empty());
}

// A copy of tiny-a with edits applied.
Snapshot LoadEdited(const std::vector<nlohmann::json>& edits) {
  const testing::TempFolder folder;
  testing::CopySnapshot(SourcePath("tests/golden/snapshots/tiny-a"), folder);
  for (const nlohmann::json& edit : edits) testing::ApplyEdit(edit, folder);
  return LoadSnapshot(folder.path());
}

nlohmann::json SetConfig(const nlohmann::json& path, const nlohmann::json& value) {
  return {{"op", "json_set"}, {"file", "config.json"}, {"path", path}, {"value", value}};
}

TEST(LoadSnapshot, DoesWithoutADraftLayerIfTheConfigSaysSo) {
  const Snapshot snapshot = LoadEdited({SetConfig({"text_config", "num_nextn_predict_layers"}, 0)});
  EXPECT_EQ(GlmConfig(snapshot).text.num_mtp_layers, 0);
  ASSERT_EQ(snapshot.warnings.size(), 1U);  // the draft layer's 16 tensors are still in the file
  EXPECT_NE(snapshot.warnings[0].find("16 tensors"), std::string::npos) << snapshot.warnings[0];
}

TEST(LoadSnapshot, DoesWithoutTheDraftLayersCopies) {
  const std::string mtp = "model.language_model.layers.3.";
  const Snapshot snapshot =
      LoadEdited({{{"op", "drop_tensor"}, {"tensor", mtp + "embed_tokens.weight"}},
                  {{"op", "drop_tensor"}, {"tensor", mtp + "shared_head.head.weight"}}});
  EXPECT_TRUE(snapshot.warnings.empty());
}

TEST(LoadSnapshot, NeedsTheHeadUnlessItIsTied) {
  const nlohmann::json drop = {{"op", "drop_tensor"}, {"tensor", "lm_head.weight"}};
  EXPECT_THROW(LoadEdited({drop}), Error);
  EXPECT_TRUE(LoadEdited({drop, SetConfig({"tie_word_embeddings"}, true)}).warnings.empty());
}

// The stored bytes of the embedding of tiny-a, for use as its head.
std::string EmbeddingHex() {
  const testing::SafetensorsParts parts = testing::SplitSafetensors(
      testing::ReadFile(SourcePath("tests/golden/snapshots/tiny-a/model.safetensors")));
  const auto& place = parts.header.at("model.language_model.embed_tokens.weight")["data_offsets"];
  std::string hex;
  for (size_t i = place[0]; i < place[1].get<size_t>(); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(parts.data[i]);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

// As in the reference, which ties only what is equal.
TEST(LoadSnapshot, AStoredHeadThatDiffersFromTheEmbeddingIsKeptWhateverTheConfigSays) {
  const nlohmann::json tied = SetConfig({"tie_word_embeddings"}, true);
  const Snapshot differs = LoadEdited({tied});
  EXPECT_FALSE(GlmConfig(differs).text.tie_word_embeddings);
  ASSERT_EQ(differs.warnings.size(), 1U);
  EXPECT_NE(differs.warnings[0].find("tie_word_embeddings"), std::string::npos);
  EXPECT_NE(differs.warnings[0].find("lm_head.weight"), std::string::npos);

  nlohmann::json same_bytes = {
      {"op", "set_tensor_bytes"}, {"tensor", "lm_head.weight"}, {"offset", 0}};
  same_bytes["hex"] = EmbeddingHex();
  const Snapshot equal = LoadEdited({tied, same_bytes});
  EXPECT_TRUE(GlmConfig(equal).text.tie_word_embeddings);
  EXPECT_TRUE(equal.warnings.empty());

  const nlohmann::json last_byte = {{"op", "set_tensor_bytes"},
                                    {"tensor", "lm_head.weight"},
                                    {"offset", 912 * 48 * 2 - 1},
                                    {"hex", "12"}};
  EXPECT_FALSE(GlmConfig(LoadEdited({tied, same_bytes, last_byte})).text.tie_word_embeddings);
}

TEST(LoadSnapshot, AStoredHeadOfATiedModelMustHaveTheHeadsShape) {
  const nlohmann::json turned = {{"op", "header_reverse_shape"}, {"tensor", "lm_head.weight"}};
  try {
    LoadEdited({turned, SetConfig({"text_config", "tie_word_embeddings"}, true)});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.location().field, "lm_head.weight");
  }
}

// Which linear the head is only the checkpoint tells.
TEST(LoadSnapshot, TheQuantizationPlanNamesTheHeadThatIsUsed) {
  const auto refused = [](bool keep_head, const std::string& linear) -> std::string {
    const testing::TempFolder folder;
    testing::CopySnapshot(SourcePath("tests/golden/snapshots/tiny-a"), folder);
    testing::ApplyEdit(SetConfig({"tie_word_embeddings"}, true), folder);
    folder.Write("platen.json", R"({"int8": {"groups": {")" + linear + R"(": 64}}})");
    if (!keep_head) {
      testing::ApplyEdit({{"op", "drop_tensor"}, {"tensor", "lm_head.weight"}}, folder);
    }
    try {
      LoadSnapshot(folder.path());
      EXPECT_TRUE(InspectSnapshot(folder.path()).usable());
      return "";
    } catch (const Error& error) {
      EXPECT_FALSE(InspectSnapshot(folder.path()).usable());
      return error.location().field;
    }
  };
  EXPECT_EQ(refused(true, "lm_head"), "");
  EXPECT_EQ(refused(false, "lm_head"), "int8.groups.lm_head");
  EXPECT_EQ(refused(false, "model.language_model.embed_tokens"), "");
  EXPECT_EQ(refused(true, "model.language_model.embed_tokens"),
            "int8.groups.model.language_model.embed_tokens");
}

TEST(LoadSnapshot, MixesFloatTypes) {
  const Snapshot snapshot = LoadEdited(
      {{{"op", "header_set"}, {"tensor", "lm_head.weight"}, {"field", "dtype"}, {"value", "F16"}}});
  EXPECT_EQ(snapshot.checkpoint.Find("lm_head.weight")->dtype, DType::kF16);
}

TEST(LoadSnapshot, ChecksTokenIdsAgainstTheTokenizer) {
  const auto refused_field = [](const std::vector<nlohmann::json>& edits) -> std::string {
    try {
      LoadEdited(edits);
      return "accepted";
    } catch (const Error& error) {
      return error.location().field;
    }
  };
  EXPECT_EQ(refused_field({SetConfig({"image_token_id"}, 906)}), "image_token_id");
  EXPECT_EQ(refused_field({SetConfig({"image_start_token_id"}, 885)}), "image_start_token_id");
  const nlohmann::json generation = {{"op", "delete"}, {"file", "generation_config.json"}};
  EXPECT_EQ(refused_field({generation, SetConfig({"text_config", "eos_token_id"}, {873, 65})}),
            "eos_token_id");
  const nlohmann::json rename_tag = {{"op", "json_set"},
                                     {"file", "tokenizer.json"},
                                     {"path", {"added_tokens", 7, "content"}},
                                     {"value", "<|nobody|>"}};
  EXPECT_EQ(refused_field({rename_tag}), "added_tokens");
  const nlohmann::json large_id = {{"op", "json_set"},
                                   {"file", "tokenizer.json"},
                                   {"path", {"added_tokens", 35, "id"}},
                                   {"value", 912}};
  EXPECT_EQ(refused_field({large_id}), "text_config.vocab_size");
}

TEST(LoadSnapshot, RefusesAFolderThatIsNotThere) {
  EXPECT_THROW(LoadSnapshot(SourcePath("tests/golden/snapshots/none")), Error);
}

// A stored tensor over `values`, as if it started at byte 100 of a file.
template <typename T>
StoredTensor Stored(const std::vector<T>& values, DType dtype) {
  StoredTensor tensor;
  tensor.name = "w";
  tensor.dtype = dtype;
  tensor.shape = {static_cast<int64_t>(values.size())};
  tensor.bytes = std::as_bytes(std::span(values));
  tensor.file = "f";
  tensor.file_offset = 100;
  return tensor;
}

TEST(WidenToF32, IsExactForEveryFiniteHalf) {
  std::vector<uint16_t> halves;
  for (int bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7C00) != 0x7C00) halves.push_back(static_cast<uint16_t>(bits));
  }
  std::vector<float> out(halves.size());
  WidenToF32(Stored(halves, DType::kF16), out);
  for (size_t i = 0; i < halves.size(); ++i) {
    const int exponent = (halves[i] >> 10) & 0x1F;
    const int mantissa = halves[i] & 0x3FF;
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(out[i], static_cast<float>((halves[i] & 0x8000) != 0 ? -magnitude : magnitude));
    ASSERT_EQ(std::signbit(out[i]), (halves[i] & 0x8000) != 0) << halves[i];
  }
}

TEST(WidenToF32, KeepsTheBitsOfBf16AndF32) {
  const std::vector<uint16_t> bf16 = {0x0000, 0x8000, 0x3F80, 0xC040, 0x0001, 0x7F7F};
  std::vector<float> out(bf16.size());
  WidenToF32(Stored(bf16, DType::kBF16), out);
  for (size_t i = 0; i < bf16.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(out[i]), static_cast<uint32_t>(bf16[i]) << 16);
  }
  const std::vector<float> f32 = {1.5F, -0.0F, 1e-40F};
  out.resize(f32.size());
  WidenToF32(Stored(f32, DType::kF32), out);
  EXPECT_EQ(out, f32);
}

TEST(WidenToF32, NamesTheOffsetOfTheFirstNonFiniteElement) {
  std::vector<float> values(10'000, 1.0F);
  std::vector<float> out(values.size());
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    values[4097] = bad;
    values[9999] = bad;
    try {
      WidenToF32(Stored(values, DType::kF32), out);
      FAIL() << "accepted " << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.location().file, "f");
      EXPECT_EQ(error.location().field, "w");
      EXPECT_EQ(error.location().offset, 100U + 4097U * 4U);
    }
  }
}

}  // namespace
}  // namespace platen
