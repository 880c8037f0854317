#include "platen/reader.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "model/checkpoint/packed_paths.h"
#include "model/families/model.h"
#include "model/hub/hub_cache.h"
#include "model/kernels/gemm_schedule.h"
#include "pipeline/document_queue.h"
#include "pipeline/engine_recognizer.h"
#include "pipeline/hardware.h"
#include "pipeline/layout_choice.h"
#include "pipeline/library/bundled_model.h"
#include "pipeline/library/document_builder.h"
#include "pipeline/library/exceptions.h"
#include "pipeline/page_pipeline.h"
#include "platen/version.h"
#include "stages/formats/page_json.h"
#include "stages/readers/memory_document.h"

namespace platen {

struct Input::Data {
  std::string path;
  std::vector<std::uint8_t> bytes;  // of a file, or of pixels
  int width = 0, height = 0;        // of pixels
  double dpi = 0;

  std::unique_ptr<DocumentReader> Open(const ReadLimits& limits) const {
    if (!path.empty()) return DocumentReader::Open(path, limits);
    if (width == 0 && height == 0) return OpenBytes(bytes, limits);
    Image image;
    image.width = width;
    image.height = height;
    image.rgb.assign(bytes.begin(), bytes.end());
    return OpenImage(std::move(image), dpi, limits);
  }
};

Input Input::File(std::string path) {
  if (path.empty()) throw Exception(Exception::Cause::kUsage, "the path of a document is empty");
  Input input;
  input.data_ = std::make_shared<Data>(Data{std::move(path), {}, 0, 0, 0});
  return input;
}

Input Input::Bytes(std::vector<std::uint8_t> bytes) {
  Input input;
  input.data_ = std::make_shared<Data>(Data{"", std::move(bytes), 0, 0, 0});
  return input;
}

Input Input::Pixels(std::vector<std::uint8_t> rgb, int width, int height, double dpi) {
  if (width <= 0 || height <= 0) {
    throw Exception(Exception::Cause::kUsage, "an image needs a width and a height");
  }
  Input input;
  input.data_ = std::make_shared<Data>(Data{"", std::move(rgb), width, height, dpi});
  return input;
}

namespace {

std::string ModelFolder(const ReaderOptions& options) {
  if (!options.model.empty()) return ResolveModelFolder(options.model);
  std::string bundled = BundledModelOfLibrary();
  if (!bundled.empty()) return bundled;
  throw Error(ErrorKind::kModel, {"", "model"},
              "no model given, and the bundled model is not in share/platen beside the library");
}

Precision PrecisionOf(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kF32:
      return Precision::kF32;
    case Arithmetic::kInt8:
      return Precision::kInt8;
    case Arithmetic::kAuto:
      break;
  }
  return BestPrecision();
}

std::unique_ptr<Model> Load(const ReaderOptions& options, const std::string& folder) {
  const Precision precision = PrecisionOf(options.arithmetic);
  auto snapshot = std::make_unique<Snapshot>(LoadSnapshot(folder));
  PackingOptions packing;
  if (options.inform) {
    for (const std::string& warning : snapshot->warnings) options.inform(warning);
    packing.inform = packing.warn = options.inform;
  }
  if (options.keep_packed_weights) {
    packing.use = PackingOptions::Use::kAuto;
    packing.paths = PackedPaths("", folder, precision);
  }
  return std::make_unique<Model>(std::move(snapshot), WithFastestSchedule(BestKernels()), precision,
                                 packing, std::nullopt,
                                 InstalledDraftHead(DraftHeadPaths("", folder)));
}

void CheckOptions(const ReaderOptions& options) {
  const auto check = [](bool sensible, const char* field, const char* rule) {
    if (!sensible) throw Error(ErrorKind::kUsage, {"", field}, rule);
  };
  check(options.threads >= 0 && options.threads <= 1024, "threads", "must be 0 to 1024");
  check(options.draft_length >= 0 && options.draft_length <= 8, "draft_length", "must be 0 to 8");
  check(options.memory_bytes >= 0, "memory_bytes", "must not be negative");
}

TextLayerUse ToTextLayerUse(const DocumentOptions& options) {
  if (options.text_layer == TextLayer::kUse) return TextLayerUse::kUse;
  const bool is_text = options.task.empty() || options.task == "text";
  return options.text_layer == TextLayer::kAuto && is_text ? TextLayerUse::kAuto
                                                           : TextLayerUse::kIgnore;
}

ReadOptions ToReadOptions(const DocumentOptions& options, const ReadingConfig& reading) {
  if (!options.task.empty() && !reading.prompts.contains(options.task)) {
    throw Error(ErrorKind::kUsage, {"", "task"},
                "is \"" + options.task + "\"; known: text, table, formula");
  }
  if (options.max_new_tokens < 0 || options.text_height < 0 || options.pdf_dpi < 0 ||
      options.pdf_dpi > 2400 || options.max_pixels < 1) {
    throw Error(ErrorKind::kUsage, {"", "DocumentOptions"}, "has a value out of range");
  }
  ReadOptions read;
  read.task = options.task;
  read.max_new_tokens = options.max_new_tokens;
  read.text_height = options.text_height;
  read.text_layer = ToTextLayerUse(options);
  return read;
}

std::vector<PageRange> ToRanges(const std::vector<int>& pages) {
  std::vector<PageRange> ranges;
  for (const int page : pages) {
    if (page < 1) throw Error(ErrorKind::kUsage, {"", "pages"}, "count from 1");
    ranges.push_back({page, page});
  }
  return ranges;
}

EngineOptions ToEngineOptions(const ReaderOptions& options, const MemoryPlan& plan) {
  EngineOptions engine;
  engine.draft_length = options.draft_length;
  engine.kv_cache_bytes = plan.kv_cache_bytes;
  engine.adaptive_drafts = true;
  return engine;
}

// A document that somebody waits for.
struct Pending {
  RequestId id = {};
  DocumentInfo info;
  std::promise<Document> promise;
  std::vector<PageResult> pages;
  std::function<void(const Page&)> on_page;
  std::exception_ptr failure;  // what on_page threw
};

}  // namespace

struct Reader::Impl {
  explicit Impl(const ReaderOptions& options)
      : folder(ModelFolder(options)),
        model(Load(options, folder)),
        plan(PlanMemory(options.memory_bytes > 0 ? options.memory_bytes : UsableMemoryBytes())),
        engine(*model, ToEngineOptions(options, plan)),
        recognizer(*model, engine),
        layout(ChooseLayout(options.layout_model, folder, BoxRules::kPlaten, model->kernels())) {
    if (!layout.warning.empty() && options.inform) options.inform(layout.warning);
    pipeline.reading = model->snapshot().reading;
    pipeline.threads = options.threads > 0 ? options.threads : AvailableCpus();
    pipeline.slots = plan.slots;
    pipeline.pixels = plan.pixels;
    thread = std::thread([this] { Serve(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      for (const auto& document : pending) queue.Cancel(document->id);
    }
    queue.Close();
    thread.join();
  }

  // Runs until the queue is closed. What breaks the graph breaks the reader: everybody who waits
  // gets the reason.
  void Serve() {
    std::exception_ptr reason;
    try {
      AtTheBoundary([&] {
        RunPages(pipeline, ToolsWith(*layout.detector), recognizer, telemetry, counters, queue,
                 queue);
      });
      return;
    } catch (...) {
      reason = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    broken = reason;
    for (const auto& document : pending) document->promise.set_exception(reason);
    pending.clear();
  }

  Ticket Submit(const Input& input, const DocumentOptions& options,
                std::function<void(const Page&)> on_page) {
    auto document = std::make_shared<Pending>();
    document->info.source = options.name.empty() ? input.data_->path : options.name;
    document->info.settings = {{"platen", Version()}, {"model", folder}};
    document->on_page = std::move(on_page);
    DocumentRequest request;
    request.name = document->info.source;
    request.read = ToReadOptions(options, pipeline.reading);
    request.pages = ToRanges(options.pages);
    request.open = [data = input.data_, limits = ToLimits(options)] { return data->Open(limits); };
    request.on_page = [document](PageResult page) {
      // As `platen ocr` keeps it: numbers rounded, so that the bytes are the same.
      document->pages.push_back(PageFromJson(PageToJson(page)));
      if (document->on_page && !document->failure) Show(*document);
    };
    request.on_done = [this, document](const std::string& error) { Finish(document, error); };

    Ticket ticket;
    ticket.document = document->promise.get_future();
    const std::lock_guard lock(mutex);
    if (broken) std::rethrow_exception(broken);
    document->id = queue.Submit(std::move(request));
    pending.push_back(document);
    ticket.id = static_cast<std::uint64_t>(document->id);
    return ticket;
  }

  // What the caller's function throws is the caller's: it comes out of the ticket.
  static void Show(Pending& document) noexcept {
    try {
      document.on_page(ToPage(document.pages.back()));
    } catch (...) {
      document.failure = std::current_exception();
    }
  }

  static ReadLimits ToLimits(const DocumentOptions& options) {
    ReadLimits limits;
    limits.max_pixels = options.max_pixels;
    limits.pdf_dpi = options.pdf_dpi;
    return limits;
  }

  void Finish(const std::shared_ptr<Pending>& document, const std::string& error) {
    {
      const std::lock_guard lock(mutex);
      pending.remove(document);
    }
    if (document->failure) {
      document->promise.set_exception(document->failure);
      return;
    }
    if (error.empty()) {
      document->promise.set_value(
          DocumentBuilder::Build(std::move(document->info), std::move(document->pages)));
      return;
    }
    const std::string name = document->info.source.empty() ? "" : document->info.source + ": ";
    document->promise.set_exception(
        std::make_exception_ptr(Exception(Exception::Cause::kInput, name + error)));
  }

  std::string folder;
  std::unique_ptr<Model> model;
  MemoryPlan plan;
  Engine engine;
  EngineRecognizer recognizer;
  LayoutChoice layout;
  PipelineOptions pipeline;
  Telemetry telemetry;
  ProgressCounters counters;
  DocumentQueue queue;
  std::mutex mutex;  // guards the two below
  std::list<std::shared_ptr<Pending>> pending;
  std::exception_ptr broken;
  std::thread thread;  // the last to begin, the first to end
};

Reader::Reader(const ReaderOptions& options)
    : impl_(AtTheBoundary([&] {
        CheckOptions(options);
        return std::make_unique<Impl>(options);
      })) {}

Reader::~Reader() = default;

Document Reader::Read(const Input& input, const DocumentOptions& options) {
  return Submit(input, options).document.get();
}

Ticket Reader::Submit(const Input& input, const DocumentOptions& options,
                      std::function<void(const Page&)> on_page) {
  return AtTheBoundary([&] { return impl_->Submit(input, options, std::move(on_page)); });
}

void Reader::Cancel(std::uint64_t id) { impl_->queue.Cancel(static_cast<RequestId>(id)); }

const std::string& Reader::model() const { return impl_->folder; }

void UseNoOpenCvThreads() { KeepOpenCvSingleThreaded(); }

}  // namespace platen
