#include "stages/crop_request.h"

namespace platen {

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
  request.task_text = reading.Of(kind).prompt;
  if (request.max_new_tokens == 0) request.max_new_tokens = reading.Of(kind).max_new_tokens;
  return request;
}

}  // namespace platen
