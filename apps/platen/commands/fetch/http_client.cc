#include "apps/platen/commands/fetch/http_client.h"

#include <curl/curl.h>
#include <strings.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "apps/platen/cli/interrupt.h"
#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr size_t kMaxHeaderBytes = 16 << 10;
constexpr std::chrono::seconds kConnectTimeout(20);

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

std::string PartOf(const Url& url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

[[noreturn]] void FailUrl(const std::string& url, const std::string& reason) {
  throw Error(ErrorKind::kEnvironment, {.file = DisplayName(url), .field = {}}, reason);
}

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

CURL* NewHandle() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL* handle = ready == CURLE_OK ? curl_easy_init() : nullptr;
  if (handle == nullptr) throw Error(ErrorKind::kEnvironment, {}, "libcurl cannot be started");
  return handle;
}

// The value of a header line of this name; nothing if it is another.
bool ReadHeader(std::string_view line, std::string_view name, std::string& value) {
  if (line.size() <= name.size() || line[name.size()] != ':' ||
      ::strncasecmp(line.data(), name.data(), name.size()) != 0) {
    return false;
  }
  line.remove_prefix(name.size() + 1);
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = line.find_last_not_of(" \t\r\n") + 1;
  value = line.substr(begin, std::max(begin, end) - begin);
  return true;
}

}  // namespace

std::string OriginOf(const std::string& url) {
  const Url parsed(curl_url(), curl_url_cleanup);
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    FailUrl(url, "is not a URL");
  }
  const std::string scheme = PartOf(parsed, CURLUPART_SCHEME);
  const std::string host = PartOf(parsed, CURLUPART_HOST);
  if (!PartOf(parsed, CURLUPART_USER).empty() || !PartOf(parsed, CURLUPART_PASSWORD).empty()) {
    FailUrl(url, "has a user's name in it; give a token in HF_TOKEN");
  }
  if (scheme != "https" && !(scheme == "http" && IsThisMachine(host))) {
    FailUrl(url, "only https is used, except to this machine");
  }
  return scheme + "://" + host + ":" + PartOf(parsed, CURLUPART_PORT);
}

struct HttpClient::Transfer {
  Handle handle{NewHandle(), curl_easy_cleanup};
  HttpHead* head = nullptr;
  const Body* body = nullptr;
  std::exception_ptr thrown;  // out of `body`; nothing may be thrown through libcurl

  static size_t OnHeader(char* bytes, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view line(bytes, size * count);
    HttpHead& head = *transfer.head;
    if (line.size() > kMaxHeaderBytes) return 0;
    if (line.starts_with("HTTP/")) head = {};  // what came before was an interim answer
    ReadHeader(line, "Link", head.link) || ReadHeader(line, "Content-Range", head.content_range) ||
        ReadHeader(line, "X-Error-Code", head.error_code);
    return line.size();
  }

  static size_t OnBody(char* bytes, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    HttpHead& head = *transfer.head;
    curl_easy_getinfo(transfer.handle.get(), CURLINFO_RESPONSE_CODE, &head.status);
    if (head.status != 200 && head.status != 206) return size * count;  // an error's page
    try {
      (*transfer.body)(head, {bytes, size * count});
      return size * count;
    } catch (...) {
      transfer.thrown = std::current_exception();
      return 0;
    }
  }

  static int OnProgress(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return Interrupted() ? 1 : 0;
  }
};

HttpClient::HttpClient(std::chrono::seconds stall)
    : transfer_(std::make_unique<Transfer>()), stall_(stall) {}

HttpClient::~HttpClient() = default;

void HttpClient::Prepare(const HttpRequest& request, bool secure) {
  CURL* handle = transfer_->handle.get();
  curl_easy_reset(handle);      // connections stay open
  if (request.from_byte > 0) {  // libcurl copies texts
    curl_easy_setopt(handle, CURLOPT_RANGE, (std::to_string(request.from_byte) + "-").c_str());
  }
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, secure ? "https" : "http");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "platen/" PLATEN_VERSION);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT,
                   static_cast<long>(std::min(stall_, kConnectTimeout).count()));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(stall_.count()));
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, Transfer::OnHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, transfer_.get());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, Transfer::OnBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, transfer_.get());
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, Transfer::OnProgress);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

std::string HttpClient::Get(const HttpRequest& request, HttpHead& head, const Body& body) {
  const std::string origin = OriginOf(request.url);
  transfer_->head = &head;
  transfer_->body = &body;
  transfer_->thrown = nullptr;
  head = {};
  Prepare(request, origin.starts_with("https://"));
  CURL* handle = transfer_->handle.get();
  HeaderList headers(curl_slist_append(nullptr, "Accept-Encoding: identity"), curl_slist_free_all);
  if (!request.token.empty()) {
    curl_slist_append(headers.get(), ("Authorization: Bearer " + request.token).c_str());
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());

  const CURLcode result = curl_easy_perform(handle);
  if (transfer_->thrown) std::rethrow_exception(transfer_->thrown);
  if (Interrupted()) throw FetchInterrupted();
  if (result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE) {
    FailUrl(request.url,
            "the server's certificate is not trusted; install ca-certificates, or the certificate "
            "of the proxy in between (update-ca-certificates)");
  }
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &head.status);
  char* redirect = nullptr;
  curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) head.location = redirect;
  head.origin = origin;
  return result == CURLE_OK ? "" : curl_easy_strerror(result);
}

}  // namespace platen
