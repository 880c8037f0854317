#include "model/kernels/gemm_schedule.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace platen {

int ChooseSchedule(const ScheduleTimings& timings) {
  int chosen = 0;
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < timings.size(); ++i) {
    for (const double seconds : timings[i]) {
      if (seconds < best) {
        best = seconds;
        chosen = static_cast<int>(i);
      }
    }
  }
  return chosen;
}

KernelTable WithSchedule(KernelTable table, int schedule) {
  assert(0 <= schedule && schedule < table.schedules.count);
  const GemmSchedule& chosen = table.schedules.list[schedule];
  table.schedule = schedule;
  table.gemm_s8 = chosen.gemm_s8;
  table.heads_together = chosen.prefetch_streams == 1;
  return table;
}

KernelTable WithFastestSchedule(const KernelTable& table) {
  if (table.schedules.count < 2) return table;
  return WithSchedule(table, ChooseSchedule(MeasureSchedules(table.schedules)));
}

}  // namespace platen
