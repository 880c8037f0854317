// What is asked of a Hugging Face hub.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/platen/commands/fetch/http_client.h"
#include "model/hub/model_name.h"
#include "model/hub/repository_files.h"

namespace platen {

// Not thread-safe. All members throw Error(kEnvironment) that says what to do, Error(kModel) for
// answers that make no sense, and FetchInterrupted.
class HubClient {
 public:
  // `endpoint`: "https://huggingface.co". `token` goes to that host alone. `inform` is told of
  // attempts that failed.
  HubClient(const std::string& endpoint, std::string token, HttpClient& http,
            std::function<void(const std::string&)> inform);

  std::string CommitOf(const ModelName& model);
  std::vector<HubFile> FilesOf(const ModelName& model, const std::string& commit);

  // The file from `from_byte` on, or whole if the server wants it so: `body` sees its status.
  // Redirects are followed. Returns why it broke off, if another attempt may help; else empty.
  std::string Open(const ModelName& model, const std::string& commit, const HubFile& file,
                   int64_t from_byte, const HttpClient::Body& body);

  // Runs `attempt`, which returns why it failed (empty: it did not) and whether it got any further,
  // until it succeeds or has got no further for several times, with longer and longer waits.
  struct Outcome {
    std::string failure = {};
    bool advanced = false;
  };
  void Persist(const std::string& what, const std::function<Outcome()>& attempt) const;

 private:
  struct Document {
    std::string text;
    std::string next;  // URL of the next page
  };
  Document GetJson(const ModelName& model, const std::string& url);
  std::string GetFollowing(const std::string& url, int64_t from_byte, bool to_other_hosts,
                           HttpHead& head, const HttpClient::Body& body);
  [[noreturn]] void FailStatus(const ModelName& model, const std::string& url,
                               const HttpHead& head) const;

  std::string endpoint_;  // without a slash at its end
  std::string origin_;
  std::string token_;
  HttpClient& http_;
  std::function<void(const std::string&)> inform_;
};

}  // namespace platen
