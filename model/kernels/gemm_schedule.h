// Which schedule of the int8 product is in use, and which is fastest on this machine: measured,
// because it depends on the memory, and the name of a CPU does not tell.
//
// Loading a model measures once (WithFastestSchedule) and passes the table that results down. All
// schedules give the same bits, so a wrong choice costs speed alone.
#pragma once

#include <vector>

#include "model/kernels/kernels.h"

namespace platen {

// Seconds of the same product: [schedule][round].
using ScheduleTimings = std::vector<std::vector<double>>;

// The schedule whose fastest round was the fastest, by its index; the first of equals, and 0 if
// there is nothing to choose from. The fastest round, because what disturbs a measurement adds
// time.
int ChooseSchedule(const ScheduleTimings& timings);

// Times every schedule in turn with four rows and with eight on weights that no cache holds, where
// they differ most (1.6 times on the CPUs seen so far). On the calling thread; 2 ms, and up to 50
// ms in virtual machines, where flushing caches is slow.
ScheduleTimings MeasureSchedules(const GemmSchedules& schedules);

// The table with that schedule in use.
KernelTable WithSchedule(KernelTable table, int schedule);

// The table with the schedule that a measurement chooses; as it is where there are not several.
KernelTable WithFastestSchedule(const KernelTable& table);

}  // namespace platen
