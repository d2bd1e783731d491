#include "engine/base/cores.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/thread_pool.h"
#ifdef __linux__
#include <sched.h>
#endif

namespace hearth {
namespace {

std::string readLine(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// "0-3,8" → 0 1 2 3 8. What is not of that form is left out.
std::set<unsigned> parseList(const std::string& text) {
    std::set<unsigned> cpus;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        unsigned first = 0, last = 0;
        char dash = 0;
        std::istringstream numbers(part);
        if (!(numbers >> first)) continue;
        if (!(numbers >> dash >> last)) last = first;
        for (unsigned cpu = first; cpu <= last && last < 1u << 20; ++cpu) cpus.insert(cpu);
    }
    return cpus;
}

/// CPUs' worth of time that one control group grants; infinity without a limit.
double quota(const std::filesystem::path& group) {
    double limit = 0, period = 0;
    std::istringstream unified(readLine(group / "cpu.max"));
    if (unified >> limit >> period) return period > 0 ? limit / period : INFINITY;
    std::istringstream(readLine(group / "cpu.cfs_quota_us")) >> limit;
    std::istringstream(readLine(group / "cpu.cfs_period_us")) >> period;
    return limit > 0 && period > 0 ? limit / period : INFINITY;
}

/// The tightest quota of the process's control group and the groups around it, in version 2 and version 1 trees.
double tightestQuota(const std::filesystem::path& root) {
    double tightest = INFINITY;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const size_t controllers = line.find(':') + 1, path = line.find(':', controllers) + 1;
        if (controllers == 0 || path == 0) continue;
        const std::string names = line.substr(controllers, path - 1 - controllers);
        std::filesystem::path tree = root / "sys/fs/cgroup";
        if (!names.empty()) {
            if (("," + names + ",").find(",cpu,") == std::string::npos) continue;
            tree /= std::filesystem::exists(tree / names) ? names : "cpu";
        }
        const std::filesystem::path inside = std::filesystem::path(line.substr(path)).relative_path();
        for (std::filesystem::path group = inside; !group.empty(); group = group.parent_path())
            tightest = std::min(tightest, quota(tree / group));
        tightest = std::min(tightest, quota(tree));  // where a container shows its own group as the root
    }
    return tightest;
}

}  // namespace

unsigned physicalCores(const std::filesystem::path& root, std::span<const unsigned> allowed) {
    // Processors with two kinds of cores list the fast ones here.
    const std::set<unsigned> fast = parseList(readLine(root / "sys/devices/cpu_core/cpus"));
    std::set<std::string> cores;
    for (const bool only_fast : {true, false}) {
        for (const unsigned cpu : allowed) {
            if (only_fast && !fast.contains(cpu)) continue;
            const std::filesystem::path topology =
                root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
            const std::string siblings = readLine(topology / "thread_siblings_list");
            cores.insert(siblings.empty() ? "cpu" + std::to_string(cpu) : siblings);
        }
        if (!cores.empty()) break;
    }
    const double limit = std::ceil(tightestQuota(root));
    const auto count = static_cast<double>(std::max<size_t>(cores.size(), 1));
    return static_cast<unsigned>(std::max(1.0, std::min(count, limit)));
}

unsigned ThreadPool::physicalCores() {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        std::vector<unsigned> allowed;
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set)) allowed.push_back(cpu);
        return hearth::physicalCores("/", allowed);
    }
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace hearth
