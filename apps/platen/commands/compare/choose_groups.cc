#include "apps/platen/commands/compare/choose_groups.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/commands/compare/compare_side.h"
#include "bench/comparison.h"
#include "bench/group_choice.h"
#include "model/support/error.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kKindWidth = 44;

// What one choice of groups does to the text.
struct Effect {
  std::string name;  // "64", ..., "whole", "chosen"
  ComparisonSummary summary;
  double core_s = 0;
};

std::string GroupName(int group) {
  return group == WeightFormat::kWholeDepth ? "whole" : std::to_string(group);
}

std::string Percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

// Text and tokens only: what later comparisons need.
void DropArrays(PageReading& reading) {
  for (CropOutcome& crop : reading.crops) {
    if (!crop.sequence) continue;
    auto kept = std::make_unique<Sequence>();
    kept->result.tokens = std::move(crop.sequence->result.tokens);
    crop.sequence = std::move(kept);
  }
}

class Chooser {
 public:
  Chooser(const Settings& settings, const std::string& model, const PageWalk& walk)
      : settings_(settings),
        model_(model),
        walk_(walk),
        f32_(LoadSide(settings, {model, Precision::kF32})),
        samples_(*f32_.model) {}

  void Run() {
    walk_.ForEach(
        [&](const WalkedPage& page) {
          PageReading reading = f32_.Read(page);
          samples_.AddPage(reading);
          DropArrays(reading);
          readings_.push_back(std::move(reading));
        },
        [&](const InputDocument& document, int number, const Error& error) {
          ++failed_pages_;
          WarnOfPage(document, number, error);
        });
    if (readings_.empty()) {
      throw Error(ErrorKind::kInput, {"", "--choose-groups"}, "there is no page to measure on");
    }
    for (const int group : kGroupCandidates) {
      QuantizationPlan plan;
      plan.set_group(group);
      Side int8 = LoadSide(settings_, {model_, Precision::kInt8}, &plan);
      AddErrors(*f32_.model, *int8.model, samples_, kinds_);
      effects_.push_back(EffectOf(GroupName(group), int8));
    }
    for (KindErrors& kind : kinds_) {
      kind.chosen = ChooseGroup(kind.errors, settings_.Number("group-bound") / 100);
    }
    plan_ = PlanOf(kinds_);
    Side chosen = LoadSide(settings_, {model_, Precision::kInt8}, &plan_);
    effects_.push_back(EffectOf("chosen", chosen));
  }

  // {"int8": ...} as it stands in platen.json.
  Json PlanJson() const {
    Json int8 = {{"group", plan_.group()}};
    if (!plan_.patterns().empty()) int8["groups"] = plan_.patterns();
    return {{"int8", int8}};
  }

  std::string Text() const {
    std::string out = fmt::format(
        "Error of the int8 products, as a share of their output, on {} pages ({} "
        "failed)\n\n{:{}}{:>7}",
        readings_.size(), failed_pages_, "product", kKindWidth, "depth");
    for (const int group : kGroupCandidates) out += fmt::format("{:>9}", GroupName(group));
    out += "   group\n";
    for (const KindErrors& kind : kinds_) {
      out += fmt::format("{:{}}{:>7}", kind.kind, kKindWidth, kind.depth);
      for (const double error : kind.errors) out += fmt::format("{:>9}", Percent(error));
      out += fmt::format("{:>8}\n", GroupName(kind.chosen));
    }
    out += fmt::format(
        "\nText against f32, with one group for all products and with the choice\n"
        "{:>8}{:>10}{:>14}{:>16}\n",
        "group", "CER", "tokens equal", "core-seconds");
    for (const Effect& effect : effects_) {
      out += fmt::format("{:>8}{:>10}{:>14}{:>16.2f}\n", effect.name,
                         Percent(effect.summary.text.cer()),
                         Percent(effect.summary.tokens.agreement()), effect.core_s);
    }
    return out + fmt::format(
                     "\nThe largest group that adds at most {} % of the output's size to the "
                     "error of 64.\nFor platen.json in {}:\n{}\n",
                     settings_.Text("group-bound"), model_, PlanJson().dump(1));
  }

  Json Report() const {
    Json json = {{"pages", readings_.size()},
                 {"pages_failed", failed_pages_},
                 {"bound_percent", settings_.Number("group-bound")},
                 {"candidates", kGroupCandidates}};
    for (const KindErrors& kind : kinds_) {
      json["products"].push_back({{"name", kind.kind},
                                  {"depth", kind.depth},
                                  {"errors", kind.errors},
                                  {"group", kind.chosen}});
    }
    for (const Effect& effect : effects_) {
      json["effects"].push_back({{"group", effect.name},
                                 {"cer", effect.summary.text.cer()},
                                 {"token_agreement", effect.summary.tokens.agreement()},
                                 {"core_s", effect.core_s}});
    }
    json["int8"] = PlanJson()["int8"];
    return json;
  }

  bool failed() const { return failed_pages_ > 0; }

 private:
  // The pages that f32 has read, in the same order.
  Effect EffectOf(const std::string& name, Side& int8) const {
    std::vector<PageComparison> pages;
    walk_.ForEach(
        [&](const WalkedPage& page) {
          const size_t index = pages.size();
          pages.push_back(ComparePage(readings_.at(index), int8.Read(page)));
        },
        [](const InputDocument&, int, const Error&) {});
    return {name, Summarise(pages), int8.report.core_s};
  }

  const Settings& settings_;
  const std::string model_;
  const PageWalk& walk_;
  Side f32_;
  ActivationSamples samples_;
  std::vector<PageReading> readings_;  // of f32
  int64_t failed_pages_ = 0;
  std::vector<KindErrors> kinds_;
  std::vector<Effect> effects_;
  QuantizationPlan plan_;
};

void WritePlan(const std::string& path, const Json& plan) {
  std::ofstream out(path);
  out << plan.dump(1) << "\n";
  out.close();
  if (!out) throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}}, "cannot write");
}

}  // namespace

int ChooseGroups(const Settings& settings, const std::string& model, const PageWalk& walk) {
  Chooser chooser(settings, model, walk);
  chooser.Run();
  const std::string text = settings.Flag("json") ? chooser.Report().dump(1) + "\n" : chooser.Text();
  std::fputs(text.c_str(), stdout);
  if (!settings.Text("write").empty()) WritePlan(settings.Text("write"), chooser.PlanJson());
  return chooser.failed() ? kExitSomeFailed : kExitDone;
}

}  // namespace platen
