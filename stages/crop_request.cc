#include "stages/crop_request.h"

namespace platen {

namespace {

// The kind's values where the run has left the standard ones.
SamplingOptions WithKind(SamplingOptions sampling, const KindDecoding& kind) {
  const SamplingOptions standard;
  const auto take = [](auto& value, auto standard_value, auto kinds) {
    if (value == standard_value) value = kinds;
  };
  take(sampling.temperature, standard.temperature, kind.temperature);
  take(sampling.top_k, standard.top_k, kind.top_k);
  take(sampling.top_p, standard.top_p, kind.top_p);
  take(sampling.repetition_penalty, standard.repetition_penalty, kind.repetition_penalty);
  return sampling;
}

}  // namespace

RequestOptions CropRequest(RegionKind kind, const ReadingConfig& reading,
                           const ReadOptions& options) {
  RequestOptions request;
  request.sampling = options.sampling;
  request.max_new_tokens = options.max_new_tokens;
  request.length_class = static_cast<int>(kind);
  if (!options.task.empty()) {
    request.task_text = reading.prompts.at(options.task);
    return request;
  }
  const KindReading& as = reading.Of(kind);
  request.task_text = as.prompt;
  request.sampling = WithKind(options.sampling, as.decoding);
  request.min_new_tokens = as.decoding.min_new_tokens;
  request.drafting.length = as.decoding.draft_length;
  if (request.max_new_tokens == 0) request.max_new_tokens = as.max_new_tokens;
  return request;
}

}  // namespace platen
