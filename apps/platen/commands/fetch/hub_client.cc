#include "apps/platen/commands/fetch/hub_client.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "apps/platen/cli/interrupt.h"
#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int kMaxRedirects = 5;
constexpr int kMaxAttempts = 5;  // in a row that got no further
constexpr size_t kMaxPages = 100;
constexpr std::chrono::milliseconds kFirstWait(500);

std::string PercentEncoded(std::string_view text, std::string_view kept) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       kept.find(c) != std::string_view::npos;
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

bool IsRedirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Another attempt may succeed.
bool MayPass(long status) { return status == 408 || status == 429 || status >= 500; }

void Wait(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (Interrupted()) throw FetchInterrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

[[noreturn]] void Fail(const std::string& url, const std::string& reason) {
  throw Error(ErrorKind::kEnvironment, {.file = DisplayName(url), .field = {}}, reason);
}

}  // namespace

HubClient::HubClient(const std::string& endpoint, std::string token, HttpClient& http,
                     std::function<void(const std::string&)> inform)
    : endpoint_(endpoint.substr(0, endpoint.find_last_not_of('/') + 1)),
      origin_(OriginOf(endpoint)),
      token_(std::move(token)),
      http_(http),
      inform_(std::move(inform)) {}

void HubClient::FailStatus(const ModelName& model, const std::string& url,
                           const HttpHead& head) const {
  if (head.status == 401 && token_.empty()) {
    Fail(url,
         "there is no public model of this name (401): correct the name, or set HF_TOKEN to a "
         "token that may read it");
  }
  if (head.status == 401) Fail(url, "the token of HF_TOKEN is not accepted (401); make a new one");
  if (head.status == 403) {
    Fail(url, "access is refused (403): accept the model's terms at " + endpoint_ + "/" +
                  model.Repository() + " and set HF_TOKEN to a token of that account");
  }
  if (head.status == 404) {
    Fail(url, head.error_code == "RevisionNotFound"
                  ? "the model has no revision " + model.revision + " (404)"
                  : "not found (404): check the model's name and revision");
  }
  Fail(url, fmt::format("the server answers with status {}", head.status));
}

std::string HubClient::GetFollowing(const std::string& url, int64_t from_byte, bool to_other_hosts,
                                    HttpHead& head, const HttpClient::Body& body) {
  std::string at = url;
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    const std::string origin = OriginOf(at);
    if (origin != origin_ && !to_other_hosts) Fail(at, "another host than " + endpoint_);
    if (origin_.starts_with("https:") && !origin.starts_with("https:")) {
      Fail(at, "is a redirect from https to http");
    }
    const std::string failure = http_.Get(
        {.url = at, .token = origin == origin_ ? token_ : "", .from_byte = from_byte}, head, body);
    if (!failure.empty()) return failure;
    if (!IsRedirect(head.status)) return "";
    if (head.location.empty()) Fail(at, "is a redirect to nowhere");
    at = head.location;
  }
  Fail(url, "too many redirects");
}

void HubClient::Persist(const std::string& what, const std::function<Outcome()>& attempt) const {
  for (int failed = 0;;) {
    const Outcome outcome = attempt();
    if (outcome.failure.empty()) return;
    failed = outcome.advanced ? 1 : failed + 1;
    if (failed == kMaxAttempts) {
      Fail(what, fmt::format("{}, {} times in a row; the same command goes on later",
                             outcome.failure, failed));
    }
    inform_(what + ": " + outcome.failure + "; trying again");
    Wait(kFirstWait * (1 << (failed - 1)));
  }
}

HubClient::Document HubClient::GetJson(const ModelName& model, const std::string& url) {
  Document document;
  HttpHead head;
  Persist(url, [&]() -> Outcome {
    document.text.clear();
    const std::string failure = GetFollowing(
        url, 0, /*to_other_hosts=*/false, head, [&](const HttpHead&, std::string_view bytes) {
          if (bytes.size() > kMaxHubJsonBytes - document.text.size()) {
            Fail(url, "the answer is too large");
          }
          document.text += bytes;
        });
    if (!failure.empty()) return {failure};
    if (MayPass(head.status)) return {fmt::format("status {}", head.status)};
    return {};
  });
  if (head.status != 200) FailStatus(model, url, head);
  document.next = NextPage(head.link).value_or("");
  return document;
}

std::string HubClient::CommitOf(const ModelName& model) {
  const std::string url = endpoint_ + "/api/models/" + model.Repository() + "/revision/" +
                          PercentEncoded(model.revision, "");
  std::string commit = ParseCommit(GetJson(model, url).text, url);
  if (IsCommit(model.revision) && commit != model.revision) {
    Fail(url, "the hub answers with another commit: " + commit);
  }
  return commit;
}

std::vector<HubFile> HubClient::FilesOf(const ModelName& model, const std::string& commit) {
  std::vector<HubFile> files;
  std::set<std::string> paths;
  std::string url =
      endpoint_ + "/api/models/" + model.Repository() + "/tree/" + commit + "?recursive=true";
  for (size_t page = 0; !url.empty(); ++page) {
    if (page == kMaxPages) Fail(url, "the list of files does not end");
    Document document = GetJson(model, url);
    for (HubFile& file : ParseTreePage(document.text, url)) {
      if (!paths.insert(file.path).second) Fail(url, "lists " + DisplayName(file.path) + " twice");
      files.push_back(std::move(file));
    }
    if (files.size() > kMaxHubFiles) Fail(url, "lists too many files");
    url = std::move(document.next);
  }
  return files;
}

std::string HubClient::Open(const ModelName& model, const std::string& commit, const HubFile& file,
                            int64_t from_byte, const HttpClient::Body& body) {
  const std::string url = endpoint_ + "/" + model.Repository() + "/resolve/" + commit + "/" +
                          PercentEncoded(file.path, "/");
  HttpHead head;
  std::string failure = GetFollowing(url, from_byte, /*to_other_hosts=*/true, head, body);
  if (!failure.empty()) return failure;
  // 416: nothing lies behind what is there.
  if (head.status == 200 || head.status == 206 || head.status == 416) return "";
  // A store's addresses are good for a while; the next attempt gets a new one from the hub.
  if (MayPass(head.status) || head.origin != origin_) {
    return fmt::format("status {} of {}", head.status, head.origin);
  }
  FailStatus(model, url, head);
}

}  // namespace platen
