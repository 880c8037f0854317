#include "pipeline/draft_recorder.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/engine/sequence.h"
#include "pipeline/messages.h"

namespace platen {
namespace {

constexpr int64_t kTeachers = 32;

RecordedWith With(const Model& model) {
  const TextSizes& sizes = model.architecture().text();
  return {model.ContentHash(), PrecisionName(model.precision()), sizes.hidden_size,
          sizes.vocab_size};
}

// "3/17": the page, and the crop of it.
std::string PlaceOf(const CropSequence& crop) {
  const PageSlot& page = *crop.crop->page;
  const auto index = crop.crop - page.crops.data();
  return std::to_string(page.job.page) + "/" + std::to_string(index);
}

void TakeLargest(const float* logits, int64_t n, std::vector<TokenId>& order, TrainingPage& page) {
  order.resize(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), TokenId{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(page.teacher_width);
  std::partial_sort(order.begin(), end, order.end(), [&](TokenId a, TokenId b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  for (auto id = order.begin(); id != end; ++id) {
    page.teacher_ids.push_back(*id);
    page.teacher_logits.push_back(logits[*id]);
  }
}

}  // namespace

DraftRecorder::DraftRecorder(const Model& model, const std::string& folder, int64_t most_bytes)
    : model_(model), pass_(model), recorder_(folder, With(model), most_bytes) {}

void DraftRecorder::Record(const Sequence& s, const CropSequence& crop) {
  if (s.result.finish != FinishReason::kStop || s.num_decided() < 2 || full_) return;
  TrainingPage page;
  page.document = crop.crop->page->job.document->name;
  page.place = PlaceOf(crop);
  page.prompt = s.prompt_len();
  page.ids = s.tokens;
  for (int64_t i = 0; i < page.length(); ++i) {
    for (size_t axis = 0; axis < page.positions.size(); ++axis) {
      page.positions[axis].push_back(s.RopePosition(i, static_cast<int>(axis)));
    }
  }
  // The last token is decided, never read.
  const std::span<const TokenId> answer =
      std::span(page.ids).subspan(static_cast<size_t>(page.prompt));
  const ConstMatView hidden = pass_.HiddenOfAll(s, answer.first(answer.size() - 1));
  page.hidden.Resize(hidden.rows, hidden.cols);
  for (int64_t r = 0; r < hidden.rows; ++r) {
    std::copy_n(hidden.Row(r), hidden.cols, page.hidden.Row(r));
  }
  const ConstMatView logits =
      pass_.Logits(hidden.Rows(page.prompt - 1, static_cast<int64_t>(answer.size())));
  page.teacher_width = std::min(kTeachers, logits.cols);
  std::vector<TokenId> order;
  for (int64_t r = 0; r < logits.rows; ++r) TakeLargest(logits.Row(r), logits.cols, order, page);
  full_ = !recorder_.Add(page);
}

}  // namespace platen
