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

ReadingConfig::Granularity GranularityFrom(const Settings& settings, const ReadingConfig& reading) {
  using Granularity = ReadingConfig::Granularity;
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

}  // namespace platen
