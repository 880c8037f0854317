#include "model/families/snapshot.h"

#include <utility>

#include "model/checkpoint/tensor_check.h"
#include "model/support/json_fields.h"

namespace platen {
ModuleTable Snapshot::Modules() const {
  ModuleTable modules = architecture->Modules();
  modules.SetGroupSizes(quantization);
  return modules;
}

std::vector<Error> CheckTokens(const Architecture& architecture, const Tokenizer& tokenizer,
                               const std::string& dir) {
  std::vector<Error> problems = architecture.CheckTokens(tokenizer);
  const std::string config = SnapshotFile(dir, "config.json");
  for (const TokenId id : architecture.tokens().stop) {
    if (tokenizer.IsAdded(id)) continue;
    problems.emplace_back(
        ErrorKind::kModel, ErrorLocation{.file = config, .field = "eos_token_id"},
        "stop id " + std::to_string(id) + " is not an added token of tokenizer.json");
  }
  const TextSizes& text = architecture.text();
  if (tokenizer.max_id() >= text.vocab_size) {
    problems.emplace_back(ErrorKind::kModel,
                          ErrorLocation{.file = config, .field = text.config_field + "vocab_size"},
                          "is " + std::to_string(text.vocab_size) + ", but tokenizer.json has id " +
                              std::to_string(tokenizer.max_id()));
  }
  return problems;
}

std::string SettleSnapshot(const Checkpoint& checkpoint, const QuantizationPlan& plan,
                           const std::string& dir, Architecture& architecture) {
  std::string note = architecture.Settle(checkpoint);
  plan.Check(architecture.Modules().LinearNames(), SnapshotFile(dir, "platen.json"));
  return note;
}

Snapshot LoadSnapshot(const std::string& dir, const FamilyRegistry& families) {
  std::unique_ptr<Architecture> architecture = families.Read(dir);
  const std::string own = SnapshotFile(dir, "platen.json");
  ReadingConfig reading = ReadReadingConfig(own, architecture->image_placeholder());
  Snapshot snapshot{.dir = dir,
                    .architecture = std::move(architecture),
                    .reading = std::move(reading),
                    .quantization = ReadQuantizationPlan(own),
                    .tokenizer = Tokenizer::Load(SnapshotFile(dir, "tokenizer.json")),
                    .checkpoint = Checkpoint::Open(dir),
                    .warnings = {}};
  ThrowFirst(CheckTokens(*snapshot.architecture, snapshot.tokenizer, dir));
  // Which tensors there must be is settled only then.
  const std::string note =
      SettleSnapshot(snapshot.checkpoint, snapshot.quantization, dir, *snapshot.architecture);
  const TensorCheck tensors =
      CheckTensors(snapshot.architecture->Modules(), snapshot.checkpoint, dir);
  ThrowFirst(tensors.missing);
  ThrowFirst(tensors.mismatched);
  if (!note.empty()) snapshot.warnings.push_back(dir + ": " + note);
  if (!tensors.unexpected.empty()) {
    snapshot.warnings.push_back(UnexpectedTensors(dir, tensors));
  }
  return snapshot;
}

}  // namespace platen
