// platen forward: one request through the model, with everything in between on request.

#include <tbb/task_arena.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/help.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/cli/settings.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "model/engine/forward.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "stages/readers/document_reader.h"

namespace platen {
namespace {

const OptionTable& ForwardOptionTable() {
  using Type = OptionType;
  static const OptionTable table = {
      {.name = "image",
       .type = Type::kTextList,
       .value_name = "FILE",
       .group = "Request",
       .help = "An image; may be given several times, in order. The first page of a document."},
      {.name = "synthetic",
       .value_name = "SEED",
       .group = "Request",
       .help = "Seeded random pixels instead of an image."},
      {.name = "synthetic-size",
       .default_value = "448x448",
       .value_name = "WxH",
       .group = "Request",
       .help = "Size of the synthetic image in pixels."},
      {.name = "prompt",
       .default_value = "Text Recognition:",
       .value_name = "TEXT",
       .group = "Request",
       .help = "What the model is asked."},
      {.name = "max-new-tokens",
       .type = Type::kInteger,
       .default_value = "0",
       .value_name = "N",
       .group = "Decoding",
       .help = "Longest answer; 0 derives it from the image.",
       .min = 0,
       .max = 131072},
      {.name = "draft-length",
       .type = Type::kInteger,
       .default_value = "3",
       .value_name = "N",
       .group = "Decoding",
       .help = "Drafts per round; 0 is plain decoding.",
       .min = 0,
       .max = 8},
      {.name = "mtp-convention",
       .default_value = "default",
       .value_name = "NAME",
       .group = "Decoding",
       .help = "How the draft layer is fed where implementations differ: default, chain_pre, "
               "mask_position0, image_vision, rope_shift, vllm_like."},
      {.name = "ignore-stop",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Decoding",
       .help = "Go on to the token limit."},
      {.name = "dump",
       .value_name = "DIR",
       .group = "Output",
       .help = "Write every intermediate array as .npy, and result.json; the folder is made."},
      PrecisionOption("Machine"),
      PackedOption("Machine"),
      PackedDirOption("Machine"),
      AttentionOption("Machine"),
      IsaOption("Machine"),
      ThreadsOption("Machine"),
      {.name = "help",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Output",
       .help = "Show this help.",
       .short_name = 'h'},
  };
  return table;
}

Image ReadFirstPage(const std::string& path, const ReadingConfig& reading) {
  Image image = DocumentReader::Open(path, ReadLimits{})->ReadPage(0).image;
  const bool reads_lines =
      reading.states_granularity && reading.granularity == ReadingConfig::Granularity::kLine;
  // A short word may be as high as it is wide; nobody cuts out a line four times as high as needed.
  if (reads_lines && image.height > image.width / 2 && image.height > 4 * reading.line_height) {
    Log(LogLevel::kWarning,
        DisplayName(path) +
            ": this model was trained on single lines of text, and the image is "
            "no line; platen ocr reads pages");
  }
  return image;
}

// "640x480"
Image Synthetic(const Settings& settings) {
  unsigned long long seed = 0;
  int width = 0;
  int height = 0;
  char rest = 0;
  if (std::sscanf(settings.Text("synthetic").c_str(), "%llu%c", &seed, &rest) != 1) {
    throw Error(ErrorKind::kUsage, {"", "--synthetic"}, "is not a number");
  }
  const std::string& size = settings.Text("synthetic-size");
  if (std::sscanf(size.c_str(), "%5dx%5d%c", &width, &height, &rest) != 2 || width < 1 ||
      height < 1) {
    throw Error(ErrorKind::kUsage, {"", "--synthetic-size"}, "\"" + size + "\" is not WxH");
  }
  return SyntheticImage(seed, width, height);
}

Request MakeRequest(const Settings& settings, const Model& model) {
  Request request;
  for (const std::string& path : settings.Items("image")) {
    request.images.push_back(
        RequireVision(model).Prepare(ReadFirstPage(path, model.snapshot().reading)));
  }
  if (!settings.Text("synthetic").empty()) {
    request.images.push_back(RequireVision(model).Prepare(Synthetic(settings)));
  }
  request.task_text = settings.Text("prompt");
  request.max_new_tokens = static_cast<int>(settings.Integer("max-new-tokens"));
  request.ignore_stop = settings.Flag("ignore-stop");
  return request;
}

ForwardOptions MakeOptions(const Settings& settings) {
  ForwardOptions options;
  options.draft_length = static_cast<int>(settings.Integer("draft-length"));
  options.mtp_convention = ParseMtpConvention(settings.Text("mtp-convention"));
  options.dump_dir = settings.Text("dump");
  if (options.dump_dir.empty()) return options;
  std::error_code error;
  std::filesystem::create_directories(options.dump_dir, error);
  if (error) {
    throw Error(ErrorKind::kEnvironment, {options.dump_dir, ""}, "cannot make: " + error.message());
  }
  return options;
}

const char* FinishText(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop token";
    case FinishReason::kLength:
      return "token limit";
    case FinishReason::kRepetition:
      return "endless repetition";
    case FinishReason::kFailed:
      return "failed";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "";
}

void PrintSpeculation(const EngineStats& stats) {
  std::printf("rounds          %lld, %.3f tokens per target pass\n",
              static_cast<long long>(stats.rounds),
              stats.rounds > 0
                  ? static_cast<double>(stats.decoded_tokens) / static_cast<double>(stats.rounds)
                  : 0.0);
  for (size_t j = 0; j < stats.drafted_at.size(); ++j) {
    if (stats.drafted_at[j] == 0) continue;
    std::printf(
        "draft %zu         accepted %lld of %lld (%.3f)\n", j + 1,
        static_cast<long long>(stats.accepted_at[j]), static_cast<long long>(stats.drafted_at[j]),
        static_cast<double>(stats.accepted_at[j]) / static_cast<double>(stats.drafted_at[j]));
  }
}

void Print(const ForwardResult& result) {
  std::printf("prompt          %zu tokens, %d of them image tokens\n",
              result.prompt.input_ids.size(), result.recognition.image_tokens);
  std::printf("logits          [1, %lld]\n", static_cast<long long>(result.vocab_size));
  std::printf("top 5 after the prompt\n");
  for (const TopToken& top : result.top) {
    std::printf("  %6d  logit %9.4f  probability %.6f  %s\n", top.id, top.logit, top.probability,
                QuotedText(top.text).c_str());
  }
  std::printf("tokens          %zu, ended by %s\n", result.recognition.tokens.size(),
              FinishText(result.recognition.finish));
  if (!result.recognition.error.empty()) {
    std::printf("error           %s\n", result.recognition.error.c_str());
  }
  PrintSpeculation(result.stats);
  std::printf("text\n%s\n", result.text.c_str());
}

}  // namespace

int RunForwardCommand(const Words& words) {
  const Settings settings = ParseSettings(ForwardOptionTable(), words);
  if (settings.Flag("help")) {
    std::printf(
        "Usage: platen forward [MODEL] [--image FILE]... [options]\n\n"
        "Runs one request (images in order, then the prompt) through the model and prints the\n"
        "prompt's length, the five most likely next tokens, and the answer. Without MODEL: the\n"
        "bundled model.\n%s",
        OptionHelp(ForwardOptionTable()).c_str());
    return kExitDone;
  }
  if (settings.positional().size() > 1) {
    throw Error(ErrorKind::kUsage, {"", "forward"}, "takes one MODEL; images go after --image");
  }
  LimitThreads(ThreadsFrom(settings));
  const std::unique_ptr<Model> model = LoadModelFrom(
      settings, LocateModel(settings.positional().empty() ? "" : settings.positional()[0]));
  const ForwardResult result =
      RunForward(*model, MakeRequest(settings, *model), MakeOptions(settings));
  Print(result);
  return result.recognition.finish == FinishReason::kFailed ? kExitSomeFailed : kExitDone;
}

}  // namespace platen
