#include "model/families/minillm/chat_ml.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/support/digest.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"
#include "model/support/mapped_file.h"

namespace platen::minillm {
namespace {

constexpr std::string_view kStart = "<|im_start|>", kEnd = "<|im_end|>";
constexpr std::string_view kDefaultSystem = "You are a helpful assistant";
constexpr size_t kMaxConfigBytes = 4 << 20;
constexpr size_t kMaxTemplateBytes = 1 << 20;

// SHA-256 of the templates whose rules are the ones below: MiniLLM's own, and a short form of it.
constexpr std::array<std::string_view, 2> kKnownTemplates = {
    "4f57494cd38c0e4e50e27f4632fb6907414a68cc48d0bbc48da5449c596c69fa",
    "916f6eddd71660bfe35c114eb226f0e339a01b40406886084831d8b552f047d8"};

std::string Turn(std::string_view role, std::string_view text) {
  std::string turn(kStart);
  turn.append(role).append("\n").append(text).append(kEnd).append("\n");
  return turn;
}

void CheckTemplate(const std::string& text, const std::string& file, const std::string& field) {
  if (std::ranges::find(kKnownTemplates, Sha256Hex(text)) != kKnownTemplates.end()) return;
  throw Error(ErrorKind::kModel, {.file = file, .field = field},
              "is not the chat template whose rules this program has built in; remove it to use "
              "plain ChatML");
}

}  // namespace

std::string RenderChatMl(std::span<const ChatTurn> turns, bool add_generation_prompt,
                         Thinking thinking) {
  const bool own_system = !turns.empty() && turns.front().role == "system";
  std::string text = Turn("system", own_system ? turns.front().text : kDefaultSystem);
  for (const ChatTurn& turn : turns.subspan(own_system ? 1 : 0)) text += Turn(turn.role, turn.text);
  if (!add_generation_prompt) return text;
  text.append(kStart).append("assistant\n");
  if (thinking == Thinking::kDisabled) text += "<think>\n\n</think>\n\n";
  return text;
}

bool KnowsChatMl(const Tokenizer& tokenizer) {
  return tokenizer.AddedTokenId(std::string(kStart)).has_value() &&
         tokenizer.AddedTokenId(std::string(kEnd)).has_value();
}

void CheckChatTemplate(const std::string& snapshot_dir) {
  const std::string own_file = SnapshotFile(snapshot_dir, "chat_template.jinja");
  if (FileExists(own_file)) {
    const MappedFile file(own_file);
    const auto bytes = file.data();
    CheckTemplate({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, own_file, "");
  }
  const std::string config_file = SnapshotFile(snapshot_dir, "tokenizer_config.json");
  if (!FileExists(config_file)) return;
  const nlohmann::json json = ReadJsonFile(config_file, kMaxConfigBytes);
  const JsonObject config(json, config_file);
  if (!config.Has("chat_template")) return;
  CheckTemplate(config.String("chat_template", kMaxTemplateBytes), config_file, "chat_template");
}

}  // namespace platen::minillm
