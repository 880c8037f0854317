#include "pipeline/graph.h"

#include <tbb/flow_graph.h>

#include <tuple>
#include <vector>

namespace platen {
namespace {

namespace flow = tbb::flow;

using Admitted = std::tuple<PageJob, PageSlot*>;
using Page = PageSlot*;

// What a recognition stage receives: something to work on later, a tick from itself to work on what
// waits, or the news that cache blocks were freed (recognition_stages.h).
enum class Mail { kArrival, kTick, kBlocksFreed };
struct PageMail {
  Mail kind = Mail::kTick;
  PageSlot* page = nullptr;
};
struct RegionMail {
  Mail kind = Mail::kTick;
  Region* region = nullptr;
};

// Pages that are nearly done go before pages that have just begun, so that they drain before new
// ones pile up: a freed slot is worth more than a filled one.
enum Priority : flow::node_priority_t {
  kDecodeImagePriority = 1,
  kLayoutPriority = 2,
  kPreprocessPriority = 3,
  kVisionPriority = 4,
  kPrefillPriority = 5,
  kDecodePriority = 6,
  kWritePriority = 7,
};

}  // namespace

// The recognition stages are serial multifunction nodes with an edge to themselves, not async_nodes
// with an engine thread behind: every thread of the process is then one that --threads counts.
//
// Order cannot deadlock: pages are admitted in sequence, so the page the writer waits for always
// holds a slot, and what waits for cache blocks gets them (see PrefillStage).
void RunGraph(const GraphStages& stages, int num_slots) {
  flow::graph g;

  flow::input_node<PageJob> source(g, [&](tbb::flow_control& control) {
    std::optional<PageJob> job = stages.source.Next();
    if (!job) control.stop();
    return job.value_or(PageJob());
  });

  flow::buffer_node<Page> free_slots(g);
  flow::join_node<Admitted, flow::reserving> admit(g);  // a page enters only with a free slot

  flow::function_node<Admitted, Page> decode_image(
      g, flow::unlimited,
      [&](const Admitted& admitted) {
        const auto& [job, slot] = admitted;
        slot->job = job;
        stages.page.DecodeImage(*slot);
        return slot;
      },
      kDecodeImagePriority);

  flow::function_node<Page, Page> layout(
      g, flow::unlimited,
      [&](Page page) {
        stages.page.Layout(*page);
        return page;
      },
      kLayoutPriority);

  using PreprocessNode = flow::multifunction_node<Page, std::tuple<PageMail, Page>>;
  PreprocessNode preprocess(
      g, flow::unlimited,
      [&](Page page, PreprocessNode::output_ports_type& out) {
        stages.page.Preprocess(*page);
        if (page->regions.empty()) {  // blank, or failed
          std::get<1>(out).try_put(page);
        } else {
          std::get<0>(out).try_put({Mail::kArrival, page});
        }
      },
      kPreprocessPriority);

  using VisionNode = flow::multifunction_node<PageMail, std::tuple<RegionMail, PageMail>>;
  VisionNode vision_encode(
      g, flow::serial,
      [&](const PageMail& mail, VisionNode::output_ports_type& out) {
        if (mail.kind == Mail::kArrival) {
          stages.vision.Add(*mail.page);
        } else {
          for (Region* r : stages.vision.OnTick()) std::get<0>(out).try_put({Mail::kArrival, r});
        }
        if (stages.vision.MustTick()) std::get<1>(out).try_put({Mail::kTick});
      },
      kVisionPriority);

  using PrefillNode = flow::multifunction_node<RegionMail, std::tuple<RegionMail, RegionMail>>;
  PrefillNode prefill(
      g, flow::serial,
      [&](const RegionMail& mail, PrefillNode::output_ports_type& out) {
        if (mail.kind == Mail::kArrival) {
          stages.prefill.Add(*mail.region);
        } else if (mail.kind == Mail::kBlocksFreed) {
          stages.prefill.OnBlocksFreed();
        } else {
          for (Region* r : stages.prefill.OnTick()) std::get<0>(out).try_put({Mail::kArrival, r});
        }
        if (stages.prefill.MustTick()) std::get<1>(out).try_put({Mail::kTick});
      },
      kPrefillPriority);

  using DecodeNode = flow::multifunction_node<RegionMail, std::tuple<Page, RegionMail, RegionMail>>;
  DecodeNode speculative_decode(
      g, flow::serial,
      [&](const RegionMail& mail, DecodeNode::output_ports_type& out) {
        if (mail.kind == Mail::kArrival) {
          if (Page page = stages.decode.Add(*mail.region)) std::get<0>(out).try_put(page);
        } else {
          const DecodeStage::Round round = stages.decode.OnTick();
          for (Page page : round.finished_pages) std::get<0>(out).try_put(page);
          if (round.freed_blocks) std::get<2>(out).try_put({Mail::kBlocksFreed});
        }
        if (stages.decode.MustTick()) std::get<1>(out).try_put({Mail::kTick});
      },
      kDecodePriority);

  flow::function_node<Page, Page> assemble(
      g, flow::unlimited,
      [&](Page page) {
        stages.page.Assemble(*page);
        return page;
      },
      kWritePriority);

  flow::sequencer_node<Page> in_order(g, [](Page page) { return page->job.sequence; });

  flow::function_node<Page, Page> write(
      g, flow::serial,
      [&](Page page) {
        stages.sink.Write(*page);
        page->Clear();
        return page;
      },
      kWritePriority);

  flow::make_edge(source, flow::input_port<0>(admit));
  flow::make_edge(free_slots, flow::input_port<1>(admit));
  flow::make_edge(admit, decode_image);
  flow::make_edge(decode_image, layout);
  flow::make_edge(layout, preprocess);
  flow::make_edge(flow::output_port<0>(preprocess), vision_encode);
  flow::make_edge(flow::output_port<1>(preprocess), assemble);                  // nothing to read
  flow::make_edge(flow::output_port<0>(vision_encode), prefill);
  flow::make_edge(flow::output_port<1>(vision_encode), vision_encode);          // tick
  flow::make_edge(flow::output_port<0>(prefill), speculative_decode);
  flow::make_edge(flow::output_port<1>(prefill), prefill);                      // tick
  flow::make_edge(flow::output_port<0>(speculative_decode), assemble);
  flow::make_edge(flow::output_port<1>(speculative_decode), speculative_decode);  // tick: next round
  flow::make_edge(flow::output_port<2>(speculative_decode), prefill);           // blocks were freed
  flow::make_edge(assemble, in_order);
  flow::make_edge(in_order, write);
  flow::make_edge(write, free_slots);                                           // the slot goes home

  std::vector<PageSlot> slots(static_cast<size_t>(num_slots));
  for (size_t i = 0; i < slots.size(); ++i) {
    slots[i].index = static_cast<int>(i);
    free_slots.try_put(&slots[i]);
  }
  source.activate();
  g.wait_for_all();
}

}  // namespace platen
