// What the container, batch system or service manager that holds this process lets it use: the
// limits of its control groups, beside which the machine's own size means nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace platen {

struct ContainerLimits {
  std::optional<double> cpus;  // CPU time per time: 1.5 is one and a half CPUs
  std::optional<int64_t> memory_bytes;
};

// The tightest limits on the way from this process's group up to the root of the hierarchy:
// `cpu.max` and `memory.max` of version 2, `cpu.cfs_quota_us` and `memory.limit_in_bytes` of
// version 1. What is not there or cannot be read is no limit. Reads a few small files; thread-safe.
// The arguments are for tests.
ContainerLimits ReadContainerLimits(const std::string& groups_root = "/sys/fs/cgroup",
                                    const std::string& own_groups = "/proc/self/cgroup");

// CPUs that this process may run on at once: by affinity, and no more than `limits` pay for
// (rounded up). At least 1.
int UsableCpus(const ContainerLimits& limits);

}  // namespace platen
