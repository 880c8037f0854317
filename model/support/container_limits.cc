#include "model/support/container_limits.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace platen {
namespace {

// The first line of a small file; empty if there is none.
std::string FirstLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

template <typename T>
void Tighten(std::optional<T>& limit, T value) {
  if (!limit || value < *limit) limit = value;
}

// Version 1 writes "no limit" as the largest multiple of a page.
constexpr int64_t kNoMemoryLimit = std::numeric_limits<int64_t>::max() / 2;

void ReadMemory(const std::string& path, ContainerLimits& limits) {
  std::istringstream text(FirstLine(path));  // "max" is no number
  int64_t bytes = 0;
  if (text >> bytes && bytes > 0 && bytes < kNoMemoryLimit) Tighten(limits.memory_bytes, bytes);
}

void AddQuota(int64_t quota_us, int64_t period_us, ContainerLimits& limits) {
  if (quota_us <= 0 || period_us <= 0) return;  // -1: no limit
  Tighten(limits.cpus, static_cast<double>(quota_us) / static_cast<double>(period_us));
}

void ReadQuota2(const std::string& path, ContainerLimits& limits) {
  std::istringstream text(FirstLine(path));  // "max 100000" or "150000 100000"
  int64_t quota_us = 0, period_us = 0;
  if (text >> quota_us >> period_us) AddQuota(quota_us, period_us, limits);
}

void ReadQuota1(const std::string& folder, ContainerLimits& limits) {
  std::istringstream quota(FirstLine(folder + "/cpu.cfs_quota_us"));
  std::istringstream period(FirstLine(folder + "/cpu.cfs_period_us"));
  int64_t quota_us = 0, period_us = 0;
  if (quota >> quota_us && period >> period_us) AddQuota(quota_us, period_us, limits);
}

// Calls visit with ROOT, and with every group on the way down to `group` ("/a/b").
template <typename Visit>
void ForEachGroup(const std::string& root, const std::string& group, const Visit& visit) {
  visit(root);
  if (group.find("/..") != std::string::npos) return;  // outside of what this process can see
  for (size_t end = group.find('/', 1); group.size() > 1; end = group.find('/', end + 1)) {
    visit(root + group.substr(0, end));
    if (end == std::string::npos) return;
  }
}

bool Lists(const std::string& controllers, const std::string& name) {
  return ("," + controllers + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

ContainerLimits ReadContainerLimits(const std::string& groups_root, const std::string& own_groups) {
  ContainerLimits limits;
  std::ifstream in(own_groups);
  // "0::/a/b" for version 2, "4:cpu,cpuacct:/a/b" for a hierarchy of version 1. Inside a container
  // the path may be the host's, which is not there: the root then is the container's own group.
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      const auto read = [&](const std::string& folder) {
        ReadQuota2(folder + "/cpu.max", limits);
        ReadMemory(folder + "/memory.max", limits);
      };
      ForEachGroup(groups_root, group, read);
      ForEachGroup(groups_root + "/unified", group, read);  // beside hierarchies of version 1
    }
    if (Lists(controllers, "cpu")) {
      ForEachGroup(groups_root + "/cpu", group,
                   [&](const std::string& folder) { ReadQuota1(folder, limits); });
    }
    if (Lists(controllers, "memory")) {
      ForEachGroup(groups_root + "/memory", group, [&](const std::string& folder) {
        ReadMemory(folder + "/memory.limit_in_bytes", limits);
      });
    }
  }
  return limits;
}

int UsableCpus(const ContainerLimits& limits) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof(set), &set) == 0;
  const int allowed = known ? CPU_COUNT(&set) : 1;
  const double paid = limits.cpus ? std::ceil(*limits.cpus) : allowed;
  return std::max(1, static_cast<int>(std::min<double>(allowed, paid)));
}

}  // namespace platen
