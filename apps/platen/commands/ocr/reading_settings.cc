#include "apps/platen/commands/ocr/reading_settings.h"

#include "model/support/error.h"

namespace platen {

ReadLimits ReadLimitsFrom(const Settings& settings) {
  ReadLimits limits;
  limits.max_pixels = settings.Integer("max-pixels");
  limits.composite_alpha_on_white = settings.Flag("composite-alpha");
  limits.pdf_dpi = static_cast<int>(settings.Integer("dpi"));
  return limits;
}

Granularity GranularityFrom(const Settings& settings, const ReadingConfig& reading) {
  const std::string& name = settings.Text("granularity");
  Granularity chosen = reading.granularity;
  for (const auto granularity : {Granularity::kLine, Granularity::kBlock, Granularity::kPage}) {
    if (name == GranularityName(granularity)) chosen = granularity;
  }
  const bool untrained = reading.states_granularity && chosen != reading.granularity;
  if (untrained && !settings.Flag("allow-untrained")) {
    throw Error(ErrorKind::kUsage, {"", "--granularity"},
                "this model was trained to read by " +
                    std::string(GranularityName(reading.granularity)) + ", not by " + name +
                    ": the text would be nonsense (--allow-untrained reads it all the same)");
  }
  return chosen;
}

ReadOptions ReadOptionsFrom(const Settings& settings, const ReadingConfig& reading) {
  ReadOptions options;
  if (!settings.IsDefault("task")) options.task = settings.Text("task");
  const Granularity granularity = GranularityFrom(settings, reading);
  if (settings.Text("granularity") != "auto") options.granularity = granularity;
  options.text_height = settings.Number("text-height");
  options.max_new_tokens = static_cast<int>(settings.Integer("max-new-tokens"));
  return options;
}

}  // namespace platen
