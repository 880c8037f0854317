#include "apps/platen/commands/ocr/job.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "apps/platen/cli/inputs.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/commands/ocr/limit_options.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/ocr/shard_option.h"
#include "model/families/reading_config.h"
#include "model/support/attempt.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "stages/readers/file_kind.h"
#include "stages/text_over_pdf.h"

namespace platen {
namespace {

// The pdf of a PDF is that PDF with text, which qpdf writes.
void RequireQpdf(const std::vector<std::string>& formats, const Discovery& discovery) {
  if (std::find(formats.begin(), formats.end(), "pdf") == formats.end() || HasQpdf()) return;
  for (const InputDocument& document : discovery.documents) {
    if (!document.error.empty()) continue;
    FileKind kind;
    const std::string failure = Attempt([&] { kind = LookAtFile(document.path); });
    if (!failure.empty() || kind.format != DocumentFormat::kPdf) continue;
    throw Error(ErrorKind::kEnvironment, {"", "--format pdf"},
                "of a PDF (" + DisplayName(document.shown_name()) +
                    ") needs the program qpdf, which is not there; install qpdf, or leave pdf out");
  }
}

// Before the model is loaded, which may take long. Its own file says what it was trained for.
void CheckGranularity(const Settings& settings) {
  if (settings.Text("granularity") == "auto") return;
  const std::string dir = LocateModel(settings.Text("model"));
  GranularityFrom(settings, ReadReadingConfig(dir + "/platen.json", ""));
}

}  // namespace

std::unique_ptr<Job> FindWork(const Settings& settings) {
  RequireInputs(settings, "ocr");
  PagesFrom(settings);
  RenderOptionsFrom(settings);
  ReadLimitsFrom(settings);
  MemoryLimitFrom(settings);
  auto job = std::make_unique<Job>(settings);
  job->deadline = DeadlineFrom(settings);
  job->shard = ShardFrom(settings, ::getenv);
  if (!job->shard.is_all() && job->target.is_stdout()) {
    throw Error(ErrorKind::kUsage, {"", "--shard"}, "needs an output folder: -o DIR");
  }
  InputSpec spec;
  spec.output_dir = job->target.dir();
  spec.input_root = settings.Text("input-root");
  spec.formats = job->target.formats();
  spec.patience_s = PatienceFrom(settings);
  if (!job->shard.is_all()) {
    spec.wanted = [shard = job->shard](const std::string& output) { return shard.Holds(output); };
  }
  job->standard_input = AddNamedInputs(settings, spec);
  job->discovery = DiscoverDocuments(spec);
  RequireDocuments(job->discovery);
  RequireQpdf(job->target.formats(), job->discovery);
  const size_t documents = job->discovery.documents.size();
  if (!job->target.was_named() && documents > 1) {
    throw Error(ErrorKind::kUsage, {},
                "say where to write " + Counted(documents, "document") +
                    ": -o DIR (or -o - to print them all)");
  }
  CheckGranularity(settings);
  return job;
}

}  // namespace platen
