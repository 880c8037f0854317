#include "apps/platen/commands/compare/compare_options.h"

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "model/support/error.h"

namespace platen {
namespace {

using Type = OptionType;

// What is compared is read as `platen ocr` would read it: the same options, declared there.
OptionSpec OcrOption(const std::string& name, const std::string& group) {
  return OptionFrom(OcrOptions(), name, group);
}

void AddSides(OptionTable& table) {
  const std::string group = "What is compared";
  table.push_back(OcrOption("model", group));
  table.push_back({.name = "with",
                   .value_name = "DIR",
                   .group = group,
                   .help = "A second model to compare with. Without it, two precisions of one "
                           "model are compared."});
  table.push_back({.name = "precision",
                   .type = Type::kChoiceList,
                   .default_value = "auto",
                   .value_name = "LIST",
                   .group = group,
                   .help = "Arithmetic of the first and the second side, e.g. f32,int8; one name "
                           "counts for both. auto is f32,int8, and with --with or two kinds of "
                           "attention what platen ocr would take.",
                   .choices = {"auto", "f32", "int8"}});
  const OptionSpec attention = AttentionOption(group);
  table.push_back({.name = attention.name,
                   .type = Type::kChoiceList,
                   .default_value = attention.default_value,
                   .value_name = "LIST",
                   .group = group,
                   .help = "Arithmetic of the image encoder's attention, of the first and the "
                           "second side, e.g. f32,int8; one name counts for both. auto follows "
                           "the precision of each side.",
                   .choices = attention.choices,
                   .former_choices = attention.former_choices,
                   .former_names = attention.former_names});
}

// The names of both sides in a list of one or two.
struct TwoNames {
  std::string a, b;
};
TwoNames NamesFrom(const Settings& settings, const std::string& option) {
  const std::vector<std::string> names = settings.List(option);
  if (names.size() > 2) {
    throw Error(ErrorKind::kUsage, {"", "--" + option}, "takes one name or two");
  }
  return {names.front(), names.back()};
}

void AddReport(OptionTable& table) {
  const std::string group = "Report";
  table.push_back({.name = "worst",
                   .type = Type::kInteger,
                   .default_value = "10",
                   .value_name = "N",
                   .group = group,
                   .help = "Pages to show, the most different first.",
                   .min = 0,
                   .max = 1e6});
  table.push_back({.name = "fail-above",
                   .type = Type::kNumber,
                   .default_value = "",
                   .value_name = "PERCENT",
                   .group = group,
                   .help = "End with exit code 1 if more than this share of all characters "
                           "differs.",
                   .min = 0,
                   .max = 1000});
  table.push_back(JsonOption(group));
}

void AddGroups(OptionTable& table) {
  const std::string group = "Groups of int8";
  table.push_back({.name = "choose-groups",
                   .type = Type::kFlag,
                   .default_value = "false",
                   .group = group,
                   .help = "Instead of comparing, measure which group of inputs each product of "
                           "--model can quantise together, and print the object \"int8\" for the "
                           "snapshot's platen.json."});
  table.push_back({.name = "group-bound",
                   .type = Type::kNumber,
                   .default_value = "1",
                   .value_name = "PERCENT",
                   .group = group,
                   .help =
                       "The largest group is chosen that adds at most this share of a product's "
                       "output to the error of the smallest.",
                   .min = 0,
                   .max = 100});
  table.push_back({.name = "write",
                   .value_name = "FILE",
                   .group = group,
                   .help = "Also write the object to FILE."});
}

}  // namespace

const OptionTable& CompareOptions() {
  static const OptionTable table = [] {
    OptionTable made;
    AddSides(made);
    AddReport(made);
    AddGroups(made);
    for (const char* name :
         {"manifest", "pages", "dpi", "password-file", "max-pixels", "composite-alpha",
          "granularity", "allow-untrained", "text-height", "task", "max-new-tokens"}) {
      made.push_back(OcrOption(name, "Pages"));
    }
    for (const char* name :
         {"threads", "isa", "packed", "packed-dir", "kv-cache-mib", "log-level", "help"}) {
      made.push_back(OcrOption(name, "Machine and messages"));
    }
    return made;
  }();
  return table;
}

CompareSides SidesFrom(const Settings& settings) {
  CompareSides sides;
  const bool two_models = !settings.Text("with").empty();
  if (settings.Flag("choose-groups") && (two_models || !settings.IsDefault("precision"))) {
    throw Error(ErrorKind::kUsage, {"", "--choose-groups"},
                "compares f32 and int8 of one model: leave --with and --precision out");
  }
  sides.a.model = LocateModel(settings.Text("model"));
  sides.b.model = two_models ? LocateModel(settings.Text("with")) : sides.a.model;
  const TwoNames attention = NamesFrom(settings, "attention");
  const bool two_attentions = attention.a != attention.b;
  const TwoNames precision = NamesFrom(settings, "precision");
  if (settings.List("precision") == std::vector<std::string>{"auto"} && !two_models &&
      !two_attentions) {
    sides.b.precision = Precision::kInt8;
  } else {
    sides.a.precision = PrecisionNamed(precision.a);
    sides.b.precision = PrecisionNamed(precision.b);
  }
  sides.a.attention = AttentionNamed(attention.a, sides.a.precision);
  sides.b.attention = AttentionNamed(attention.b, sides.b.precision);
  if (!two_models && sides.a.attention == sides.b.attention &&
      sides.a.precision == sides.b.precision) {
    throw Error(ErrorKind::kUsage, {"", "--precision"},
                "both sides would be the same: name two, e.g. f32,int8, two of --attention, "
                "or a second model --with");
  }
  return sides;
}

}  // namespace platen
