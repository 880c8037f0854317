#include "apps/platen/commands/ocr/decoding_settings.h"

#include "apps/platen/cli/log.h"
#include "model/engine/drafters/draft_vocabulary.h"
#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {

std::vector<TokenId> DraftVocabularyFrom(const Settings& settings, const Model& model) {
  const std::string& path = settings.Text("draft-vocabulary");
  if (path.empty()) return {};
  if (!model.drafts()) {
    throw Error(ErrorKind::kUsage, {.file = {}, .field = "--draft-vocabulary"},
                "this model has no draft layer; leave it out");
  }
  return ReadDraftVocabulary(path, model.architecture().text().vocab_size);
}

DrafterChoice DraftersFrom(const Settings& settings) {
  return *FindDrafterChoice(settings.Text("drafters"));
}

SamplingOptions SamplingFrom(const Settings& settings) {
  SamplingOptions sampling;
  sampling.temperature = static_cast<float>(settings.Number("temperature"));
  sampling.top_k = static_cast<int>(settings.Integer("top-k"));
  sampling.top_p = static_cast<float>(settings.Number("top-p"));
  sampling.repetition_penalty = static_cast<float>(settings.Number("repetition-penalty"));
  sampling.seed = static_cast<uint64_t>(settings.Integer("seed"));
  sampling.acceptance = *FindAcceptanceRule(settings.Text("acceptance"));
  CheckSamplingOptions(sampling);
  return sampling;
}

EngineOptions EngineOptionsFrom(const Settings& settings, const Model& model,
                                int64_t kv_cache_bytes) {
  EngineOptions options;
  options.draft_length = static_cast<int>(settings.Integer("draft-length"));
  options.drafters = DraftersFrom(settings);
  if (settings.Text("drafters").starts_with("mtp") && !model.drafts()) {
    throw Error(ErrorKind::kUsage, {.file = {}, .field = "--drafters"},
                "this model has no draft layer; give ngram or none, or leave it out");
  }
  options.draft_vocabulary = DraftVocabularyFrom(settings, model);
  options.adaptive_drafts = settings.Text("draft-policy") == "adaptive";
  options.kv_cache_bytes = kv_cache_bytes;
  if (model.draft_head()) {
    options.on_draft_head_given_up = [path = model.draft_head()->path](const std::string& why) {
      Log(LogLevel::kWarning, DisplayName(path) + ": given up for the model's own drafts: " + why);
    };
  }
  return options;
}

}  // namespace platen
