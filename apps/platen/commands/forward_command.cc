// platen forward: one request through the model, with everything in between on request.

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "model/engine/forward.h"
#include "model/families/layout_forward.h"
#include "model/families/layout_snapshot.h"
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
      OptionFrom(OcrOptions(), "max-new-tokens", "Decoding"),
      OptionFrom(OcrOptions(), "draft-length", "Decoding"),
      OptionFrom(OcrOptions(), "draft-head", "Decoding"),
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
      {.name = "logits",
       .type = Type::kChoice,
       .default_value = "last",
       .value_name = "WHICH",
       .group = "Output",
       .help = "With --dump: logits of the last prompt token, or of all positions in logits.npy "
               "too.",
       .choices = {"last", "all"}},
      {.name = "answer-ids",
       .value_name = "IDS",
       .group = "Output",
       .help = "With --logits all: token ids with commas between them that follow the prompt; "
               "logits.npy goes on as if the model had answered so."},
      BoxRulesOption("Layout models"),
      PrecisionOption("Machine"),
      PackedOption("Machine"),
      PackedDirOption("Machine"),
      AttentionOption("Machine"),
      IsaOption("Machine"),
      ThreadsOption("Machine"),
      HelpOption("Output"),
  };
  return table;
}

Image ReadFirstPage(const std::string& path, const ReadingConfig& reading) {
  Image image = DocumentReader::Open(path, ReadLimits{})->ReadPage(0).image;
  const bool reads_lines = reading.states_granularity && reading.granularity == Granularity::kLine;
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

// "5,17,3"; empty: none.
std::vector<TokenId> AnswerIds(const std::string& text) {
  std::vector<TokenId> ids;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    TokenId id = 0;
    const auto [behind, error] = std::from_chars(at, end, id);
    const bool goes_on = behind != end && *behind == ',' && behind + 1 != end;
    if (error != std::errc() || (behind != end && !goes_on)) {
      throw Error(ErrorKind::kUsage, {"", "--answer-ids"},
                  "place " + std::to_string(ids.size() + 1) + " is not a token id");
    }
    ids.push_back(id);
    at = goes_on ? behind + 1 : end;
  }
  return ids;
}

void TakeLogitsOptions(const Settings& settings, ForwardOptions& options) {
  const bool all = settings.Text("logits") == "all";
  if (all && options.dump_dir.empty()) {
    throw Error(ErrorKind::kUsage, {"", "--logits"}, "all needs --dump DIR");
  }
  options.dumped_logits = all ? DumpedLogits::kAll : DumpedLogits::kLast;
  options.answer = AnswerIds(settings.Text("answer-ids"));
  if (!all && !options.answer.empty()) {
    throw Error(ErrorKind::kUsage, {"", "--answer-ids"}, "needs --logits all");
  }
}

void MakeDumpFolder(const std::string& dir) {
  if (dir.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) throw Error(ErrorKind::kEnvironment, {dir, ""}, "cannot make: " + error.message());
}

ForwardOptions MakeOptions(const Settings& settings) {
  ForwardOptions options;
  options.draft_length = static_cast<int>(settings.Integer("draft-length"));
  options.mtp_convention = ParseMtpConvention(settings.Text("mtp-convention"));
  options.dump_dir = settings.Text("dump");
  TakeLogitsOptions(settings, options);
  MakeDumpFolder(options.dump_dir);
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
  const auto ratio = [](int64_t numerator, int64_t denominator) {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  };
  fmt::print("rounds          {}, {:.3f} tokens per target pass\n", stats.rounds,
             stats.rounds > 0 ? ratio(stats.decoded_tokens, stats.rounds) : 0.0);
  for (size_t j = 0; j < stats.drafted_at.size(); ++j) {
    if (stats.drafted_at[j] == 0) continue;
    fmt::print("draft {}         accepted {} of {} ({:.3f})\n", j + 1, stats.accepted_at[j],
               stats.drafted_at[j], ratio(stats.accepted_at[j], stats.drafted_at[j]));
  }
}

void Print(const ForwardResult& result) {
  fmt::print("prompt          {} tokens, {} of them image tokens\n", result.prompt.input_ids.size(),
             result.recognition.image_tokens);
  fmt::print("logits          [{}, {}]\n", result.logits.positions, result.logits.vocab);
  fmt::print("top 5 after the prompt\n");
  for (const TopToken& top : result.top) {
    fmt::print("  {:6}  logit {:9.4f}  probability {:.6f}  {}\n", top.id, top.logit,
               top.probability, QuotedText(top.text));
  }
  fmt::print("tokens          {}, ended by {}\n", result.recognition.tokens.size(),
             FinishText(result.recognition.finish));
  if (!result.recognition.error.empty()) {
    fmt::print("error           {}\n", result.recognition.error);
  }
  PrintSpeculation(result.stats);
  fmt::print("text\n{}\n", result.text);
}

// The same request without drafts: what they saved, and that they changed nothing.
bool PrintPlain(const ForwardResult& plain, const ForwardResult& drafted) {
  const bool same = plain.recognition.tokens == drafted.recognition.tokens;
  fmt::print("without drafts  {} rounds, {}\n", plain.stats.rounds,
             same ? "the same tokens" : "OTHER TOKENS: please report this");
  return same;
}

void Print(const char* title, const std::vector<Detection>& detections) {
  fmt::print("{}\n", title);
  for (const Detection& d : detections) {
    fmt::print("  {:4}  {:.4f}  {:18} {:9.2f} {:9.2f} {:9.2f} {:9.2f}\n", d.order, d.score, d.label,
               d.x0, d.y0, d.x1, d.y1);
  }
}

int ForwardLayout(const Settings& settings, const std::string& dir) {
  const std::vector<std::string>& images = settings.Items("image");
  if (images.size() != 1) {
    throw Error(ErrorKind::kUsage, {"", "--image"}, "give one: this model finds regions on a page");
  }
  LimitThreads(ThreadsFrom(settings));
  const LayoutSnapshot snapshot = LoadLayoutSnapshot(dir);
  const auto model = snapshot.architecture->Load(snapshot.checkpoint, KernelsFrom(settings));
  const Image page = DocumentReader::Open(images.front(), ReadLimits{})->ReadPage(0).image;
  MakeDumpFolder(settings.Text("dump"));
  const LayoutForwardResult result =
      RunLayoutForward(*model, page, BoxRulesFrom(settings), settings.Text("dump"));
  fmt::print("page            {}x{} pixels\n", page.width, page.height);
  Print("found: order, score, label, x0, y0, x1, y1", result.found);
  Print("kept", result.kept);
  return kExitDone;
}

}  // namespace

const CommandSpec& ForwardCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen forward [MODEL] [--image FILE]... [options]"},
      .description =
          "Runs one request (images in order, then the prompt) through the model and prints the "
          "prompt's length, the five most likely next tokens, and the answer. Without MODEL: "
          "the bundled model.\n\n"
          "Of a model that finds regions (PP-DocLayoutV3) MODEL takes one --image and prints "
          "what it finds there, and what the rules for boxes leave.\n",
      .options = ForwardOptionTable(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunForwardCommand(const Words& words) {
  const auto settings = ParseCommand(ForwardCommand(), words);
  if (!settings) return kExitDone;
  const std::string dir = ModelArgument(*settings, "forward");
  if (FamilyRegistry::BuiltIn().IsLayoutModel(dir)) return ForwardLayout(*settings, dir);
  const ForwardOptions options = MakeOptions(*settings);
  LimitThreads(ThreadsFrom(*settings));
  const std::unique_ptr<Model> model = LoadModelFrom(*settings, dir);
  const Request request = MakeRequest(*settings, *model);
  const ForwardResult result = RunForward(*model, request, options);
  Print(result);
  if (result.stats.drafted_rounds > 0) {
    ForwardOptions plain = options;
    plain.draft_length = 0;
    plain.dump_dir.clear();
    plain.dumped_logits = DumpedLogits::kLast;
    plain.answer.clear();
    if (!PrintPlain(RunForward(*model, request, plain), result)) {
      return kExitSomeFailed;
    }
  }
  return result.recognition.finish == FinishReason::kFailed ? kExitSomeFailed : kExitDone;
}

}  // namespace platen
