// One HTTP request at a time, over libcurl. This folder is the only code that goes to the network.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace platen {

// Thrown where the user has asked for an end; what is downloaded so far stays.
struct FetchInterrupted {};

// "https://huggingface.co:443" of a URL. Throws Error(kEnvironment) for what is no URL, for one
// with a user's name in it, and unless it is https or leads to this machine.
std::string OriginOf(const std::string& url);

struct HttpRequest {
  std::string url;
  std::string token;      // for the Authorization header; empty: none
  int64_t from_byte = 0;  // > 0: the rest of the file from there (Range)
};

// What stands before the body. Texts are empty if absent.
struct HttpHead {
  long status = 0;
  std::string origin;    // of the server that answered
  std::string location;  // made absolute
  std::string link;
  std::string content_range;
  std::string error_code;  // X-Error-Code of the hub
};

class HttpClient {
 public:
  // `stall`: a connection that gives no byte for so long has failed.
  explicit HttpClient(std::chrono::seconds stall);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Called with each piece of a body whose status is 200 or 206; what it throws ends the request
  // and comes out of Get.
  using Body = std::function<void(const HttpHead& head, std::string_view bytes)>;

  // No redirect is followed. Returns why the connection failed; empty if the answer came whole,
  // whatever its status. Throws FetchInterrupted, and Error(kEnvironment) as OriginOf does.
  std::string Get(const HttpRequest& request, HttpHead& head, const Body& body);

 private:
  struct Transfer;
  void Prepare(const HttpRequest& request, bool secure);  // all but the headers
  std::unique_ptr<Transfer> transfer_;
  std::chrono::seconds stall_;
};

}  // namespace platen
