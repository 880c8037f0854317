// Draft weights beside a snapshot, for `platen inspect`.
#include "model/checkpoint/packed_file.h"
#include "model/checkpoint/packed_weights.h"
#include "model/families/inspect.h"
#include "model/families/packing_plan.h"
#include "model/support/json_fields.h"

namespace platen {

DraftHeadFacts InspectDraftHead(const std::string& dir,
                                const std::vector<std::string>& packed_paths,
                                const std::vector<std::string>& draft_head_paths) {
  DraftHeadFacts facts;
  for (const std::string& path : packed_paths) {
    if (!FileExists(path)) continue;
    DraftHeadFacts::Packed& packed = facts.packed.emplace_back();
    packed.path = path;
    try {
      const PackedFile file(path);
      if (file.key().draft_head) packed.carries = file.key().draft_head->name;
    } catch (const Error& e) {
      packed.problem = e.what();
    }
  }
  facts.installed = InstalledDraftHead(draft_head_paths).path;
  if (facts.installed.empty()) return facts;
  try {
    facts.says = FactsOf(Checkpoint::OpenFile(facts.installed));
    PackingOptions packing;
    packing.paths = packed_paths;
    packing.warn = [&](const std::string& text) { facts.why_not = text; };
    const PackingPlan plan(LoadSnapshot(dir), Precision::kF32, {facts.installed, true}, packing);
  } catch (const Error& e) {
    facts.why_not = e.what();
  }
  return facts;
}

}  // namespace platen
