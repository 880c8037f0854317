// Records what training of draft heads needs, beside the reading of pages.
#pragma once

#include <memory>
#include <string>

#include "model/engine/teacher_forced.h"
#include "model/families/model.h"
#include "model/training/page_record.h"
#include "pipeline/recognizer.h"

namespace platen {

// Of every region that ended by itself: tokens, positions, and the target's hidden vectors, which
// one more pass over the region gives. Regions that were cut off are left out: their text is none
// that drafts should learn. One call at a time.
class DraftRecorder {
 public:
  // `folder` is made; `most_bytes` of all records in it. `model` outlives the recorder. Throws
  // Error(kEnvironment).
  DraftRecorder(const Model& model, const std::string& folder, int64_t most_bytes);

  // For EngineRecognizer::OnFinished. Throws Error(kEnvironment) if it cannot be written.
  void Record(const Sequence& sequence, const CropSequence& crop);

  int64_t recorded() const { return recorder_.pages(); }
  bool full() const { return full_; }  // no room for some

 private:
  const Model& model_;
  TeacherForcedPass pass_;
  PageRecorder recorder_;
  bool full_ = false;
};

}  // namespace platen
