#include "pipeline/graph.h"

#include <tbb/flow_graph.h>

#include <atomic>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/page_order.h"
#include "pipeline/pixel_gate.h"
#include "pipeline/stop_signal.h"

namespace platen {
namespace {

namespace flow = tbb::flow;

using Page = PageSlot*;

// What a recognition stage receives: something to work on later, a tick from itself to work on what
// waits, the news that cache blocks were freed, a crop that gave its blocks away, or one that is
// read once more (recognition_stages.h).
enum class Mail { kArrival, kTick, kBlocksFreed, kPreempted, kAgain };
struct PageMail {
  Mail kind = Mail::kTick;
  PageSlot* page = nullptr;
  PageCrop* crop = nullptr;  // of kAgain
};
struct CropMail {
  Mail kind = Mail::kTick;
  PageCrop* crop = nullptr;
};
// What the pixel gate receives: a page that wants in, or pixels that another has given back.
struct GateMail {
  PageSlot* page = nullptr;
  int64_t pixels = 0;
};

// Decoding comes last: a step costs nearly the same for one page's regions as for many pages', so
// all pages in memory are made ready first and share its batch
// (docs/notes/2026-11-22-passes-and-pages.md). Their number is bounded by the slots. Before it,
// what is nearest to decoding goes first. What is decoded is written at once, which frees its slot.
// Every node has a priority: tasks without one would wait for all others.
enum Priority : flow::node_priority_t {
  kDecodePriority = 1,
  kSourcePriority = 2,
  kMeasurePriority = 3,
  kDecodeImagePriority = 4,
  kLayoutPriority = 5,
  kPreprocessPriority = 6,
  kVisionPriority = 7,
  kPrefillPriority = 8,
  kWritePriority = 9,
};

// While it lives, a ring of the doorbell wakes the graph.
class AttachedDoorbell {
 public:
  AttachedDoorbell(Doorbell* doorbell, std::function<void()> wake) : doorbell_(doorbell) {
    if (doorbell_ != nullptr) doorbell_->Attach(std::move(wake));
  }
  AttachedDoorbell(const AttachedDoorbell&) = delete;
  AttachedDoorbell& operator=(const AttachedDoorbell&) = delete;
  ~AttachedDoorbell() {
    if (doorbell_ != nullptr) doorbell_->Detach();
  }

 private:
  Doorbell* doorbell_;
};

// The graph has run empty and the doorbell is detached: what was rung for in between is done first,
// then the thread sleeps until there is more. False: the run is over.
bool WaitForMore(Doorbell* doorbell, flow::graph& g, const std::function<bool()>& over) {
  g.wait_for_all();
  if (over() || doorbell == nullptr) return false;
  doorbell->Wait();
  return true;
}

}  // namespace

// The recognition stages are serial multifunction nodes with an edge to themselves, not async_nodes
// with an engine thread behind: every thread of the process is then one that --threads counts.
//
// Order cannot deadlock: pages of a stream are admitted in their order, so the page the writer
// waits for always holds a slot, what waits for room for its pixels gets it (see PixelGate), and
// what waits for cache blocks gets them (see PrefillStage).
//
// No exception leaves a body: `stop` keeps the first one, bodies that start later do nothing, and
// the graph runs empty (see StopSignal).
void RunGraph(const GraphStages& stages, const GraphLimits& limits) {
  flow::graph g;
  StopSignal stop;
  PixelGate gate(limits.pixels);

  // A free slot comes in and leaves with a page, or is laid aside until there is one; nullptr: the
  // doorbell has rung.
  using SourceNode = flow::multifunction_node<Page, std::tuple<Page>>;
  std::vector<Page> free_slots;
  std::atomic<bool> ended = false;
  const auto next_page = [&]() -> Page {
    if (free_slots.empty() || ended) return nullptr;
    NextPage next = stages.source.Next();
    if (next.status == NextPage::Status::kEnd) ended = true;
    if (next.status != NextPage::Status::kPage) return nullptr;
    Page page = free_slots.back();
    free_slots.pop_back();
    page->job = std::move(next.job);
    return page;
  };
  SourceNode source(
      g, flow::serial,
      [&](Page slot, SourceNode::output_ports_type& out) {
        stop.Guard([&] {
          if (slot != nullptr) {  // one page each, so that pages that are further on go first
            free_slots.push_back(slot);
            if (Page page = next_page()) std::get<0>(out).try_put(page);
          } else {
            while (Page page = next_page()) std::get<0>(out).try_put(page);
          }
        });
      },
      kSourcePriority);

  flow::function_node<Page, GateMail> measure(
      g, flow::unlimited,
      [&](Page page) {
        stop.Guard([&] { stages.page.Measure(*page); });
        return GateMail{page, 0};
      },
      kMeasurePriority);

  using GateNode = flow::multifunction_node<GateMail, std::tuple<Page>>;
  GateNode pixel_gate(
      g, flow::serial,
      [&](const GateMail& mail, GateNode::output_ports_type& out) {
        if (mail.page != nullptr) gate.Add(*mail.page);
        gate.GiveBack(mail.pixels);
        for (Page page : gate.Admit()) std::get<0>(out).try_put(page);
      },
      kMeasurePriority);

  flow::function_node<Page, Page> decode_image(
      g, flow::unlimited,
      [&](Page page) {
        stop.Guard([&] { stages.page.DecodeImage(*page); });
        return page;
      },
      kDecodeImagePriority);

  flow::function_node<Page, Page> layout(
      g, limits.layouts_in_turn ? flow::serial : flow::unlimited,
      [&](Page page) {
        stop.Guard([&] { stages.page.Layout(*page); });
        return page;
      },
      kLayoutPriority);

  using PreprocessNode = flow::multifunction_node<Page, std::tuple<PageMail, Page, GateMail>>;
  PreprocessNode preprocess(
      g, flow::unlimited,
      [&](Page page, PreprocessNode::output_ports_type& out) {
        stop.Guard([&] {
          stages.page.Preprocess(*page);
          std::get<2>(out).try_put({nullptr, page->pixels});
          if (page->crops.empty()) {  // blank, or failed
            std::get<1>(out).try_put(page);
          } else {
            std::get<0>(out).try_put({Mail::kArrival, page});
          }
        });
      },
      kPreprocessPriority);

  using VisionNode = flow::multifunction_node<PageMail, std::tuple<CropMail, PageMail>>;
  VisionNode vision_encode(
      g, flow::serial,
      [&](const PageMail& mail, VisionNode::output_ports_type& out) {
        stop.Guard([&] {
          if (mail.kind == Mail::kArrival) {
            stages.vision.Add(*mail.page);
          } else if (mail.kind == Mail::kAgain) {
            stages.vision.AddAgain(*mail.crop);
          } else {
            for (PageCrop* crop : stages.vision.OnTick()) {
              std::get<0>(out).try_put({Mail::kArrival, crop});
            }
          }
          if (stages.vision.MustTick()) std::get<1>(out).try_put({Mail::kTick});
        });
      },
      kVisionPriority);

  using PrefillNode = flow::multifunction_node<CropMail, std::tuple<CropMail, CropMail>>;
  PrefillNode prefill(
      g, flow::serial,
      [&](const CropMail& mail, PrefillNode::output_ports_type& out) {
        stop.Guard([&] {
          if (mail.kind == Mail::kArrival) {
            stages.prefill.Add(*mail.crop);
          } else if (mail.kind == Mail::kPreempted) {
            stages.prefill.AddPreempted(*mail.crop);
          } else if (mail.kind == Mail::kBlocksFreed) {
            stages.prefill.OnBlocksFreed();
          } else {
            for (PageCrop* crop : stages.prefill.OnTick()) {
              std::get<0>(out).try_put({Mail::kArrival, crop});
            }
          }
          if (stages.prefill.MustTick()) std::get<1>(out).try_put({Mail::kTick});
        });
      },
      kPrefillPriority);

  using DecodeNode =
      flow::multifunction_node<CropMail, std::tuple<Page, CropMail, CropMail, PageMail>>;
  DecodeNode speculative_decode(
      g, flow::serial,
      [&](const CropMail& mail, DecodeNode::output_ports_type& out) {
        stop.Guard([&] {
          if (mail.kind == Mail::kArrival) {
            if (Page page = stages.decode.Add(*mail.crop)) std::get<0>(out).try_put(page);
          } else {
            const DecodeStage::Round round = stages.decode.OnTick();
            for (Page page : round.finished_pages) std::get<0>(out).try_put(page);
            for (PageCrop* crop : round.preempted) {
              std::get<2>(out).try_put({Mail::kPreempted, crop});
            }
            for (PageCrop* crop : round.again) {
              std::get<3>(out).try_put({Mail::kAgain, nullptr, crop});
            }
            if (round.freed_blocks) std::get<2>(out).try_put({Mail::kBlocksFreed});
          }
          if (stages.decode.MustTick()) std::get<1>(out).try_put({Mail::kTick});
        });
      },
      kDecodePriority);

  flow::function_node<Page, Page> assemble(
      g, flow::unlimited,
      [&](Page page) {
        stop.Guard([&] {
          stages.page.Assemble(*page);
          stages.sink.Prepare(*page);
        });
        return page;
      },
      kWritePriority);

  // The pages of a stream are written in order; those that are ready early wait here. (A
  // sequencer_node knows one stream, and would pass pages on by tasks without priority.)
  using WriteNode = flow::multifunction_node<Page, std::tuple<Page>>;
  PageOrder order;
  WriteNode write(
      g, flow::serial,
      [&](Page finished, WriteNode::output_ports_type& out) {
        stop.Guard([&] {
          for (Page page : order.Add(*finished)) {
            stages.sink.Write(*page);
            page->Clear();
            std::get<0>(out).try_put(page);
          }
        });
      },
      kWritePriority);

  flow::make_edge(flow::output_port<0>(source), measure);
  flow::make_edge(measure, pixel_gate);
  flow::make_edge(flow::output_port<0>(pixel_gate), decode_image);
  flow::make_edge(decode_image, layout);
  flow::make_edge(layout, preprocess);
  flow::make_edge(flow::output_port<0>(preprocess), vision_encode);
  flow::make_edge(flow::output_port<1>(preprocess), assemble);    // nothing to read
  flow::make_edge(flow::output_port<2>(preprocess), pixel_gate);  // pixels given back
  flow::make_edge(flow::output_port<0>(vision_encode), prefill);
  flow::make_edge(flow::output_port<1>(vision_encode), vision_encode);  // tick
  flow::make_edge(flow::output_port<0>(prefill), speculative_decode);
  flow::make_edge(flow::output_port<1>(prefill), prefill);  // tick
  flow::make_edge(flow::output_port<0>(speculative_decode), assemble);
  flow::make_edge(flow::output_port<1>(speculative_decode),
                  speculative_decode);  // tick: next round
  flow::make_edge(flow::output_port<2>(speculative_decode),
                  prefill);  // blocks were freed, or taken
  flow::make_edge(flow::output_port<3>(speculative_decode), vision_encode);  // once more
  flow::make_edge(assemble, write);
  flow::make_edge(flow::output_port<0>(write), source);  // the slot goes home

  std::vector<PageSlot> slots(static_cast<size_t>(limits.slots));
  for (size_t i = 0; i < slots.size(); ++i) {
    slots[i].index = static_cast<int>(i);
  }
  Doorbell* doorbell = stages.source.doorbell();
  do {
    const AttachedDoorbell attached(doorbell, [&] { source.try_put(nullptr); });
    if (free_slots.empty()) {
      for (PageSlot& slot : slots) source.try_put(&slot);
    } else {
      source.try_put(nullptr);
    }
    g.wait_for_all();
  } while (WaitForMore(doorbell, g, [&] { return ended || stop.stopped(); }));
  if (!stop.stopped()) return;
  stages.decode.Abandon();
  stop.Rethrow();
}

}  // namespace platen
