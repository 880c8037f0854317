// What train, evaluate and inspect begin with: the model, the records, the weights.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/tune/work_folder.h"
#include "model/families/snapshot.h"
#include "model/training/draft_evaluation.h"
#include "model/training/engine_draft.h"
#include "model/training/page_record.h"
#include "model/training/tuner.h"

namespace platen {

struct TuneSession {
  // Loads the model's tables and the records, and limits the threads. Throws Error: kInput if the
  // records were made with another model.
  explicit TuneSession(const Settings& settings);

  // Pages of documents that training has not seen, neither to learn nor to choose: those that are
  // kept from it, and those recorded later.
  std::vector<const TrainingPage*> UnseenPages(uint64_t seed) const;
  // Remembers which documents training sees, and says how many are left out.
  void KeepSeen(uint64_t seed) const;

  // Of --draft-vocabulary, with the stop tokens, ascending; empty: all tokens. Throws
  // Error(kUsage).
  std::vector<TokenId> VocabularyFrom(const Settings& settings) const;

  // The records of a folder, which must be of the same model. Throws Error(kInput).
  RecordedPages Records(const std::string& folder) const;

  Precision precision() const;  // with which the pages were read, and drafts will be made
  // The model's own draft layer or heads. Throws Error(kModel) if it has none.
  DraftShape OwnShape() const;

  WorkFolder work;
  Snapshot snapshot;
  const KernelTable& kernels;
  RecordedPages recorded;

 private:
  std::set<std::string> SeenBySplit(uint64_t seed) const;
  std::set<std::string> Seen(uint64_t seed) const;
};

// A draft that can be evaluated: of a file, or the model's own if `path` is empty. Shape and file
// live as long as it.
struct LoadedDraft {
  LoadedDraft(const TuneSession& session, const std::string& path);
  DraftShape shape;
  EngineDraft draft;
};

// Heads as a file of draft weights holds them, or the model's own shape. Throws Error(kModel).
DraftShape ShapeOfFile(const TuneSession& session, const std::string& path);

// Steps that a draft can make at most.
int MostSteps(const DraftShape& shape);

}  // namespace platen
