#include "engine/placement/device_file.h"

#include <algorithm>

#include "engine/placement/json_file.h"

namespace hearth::placement {
namespace {

double positive(const nlohmann::json& one, const char* key) {
    const double value = one.at(key).get<double>();
    if (!(value > 0 && value < 1e9)) throw Error("cannot use this device file", std::string(key) + " is not positive");
    return value;
}

Device basic(const nlohmann::json& one) {
    Device device;
    device.name = one.at("name").get<std::string>();
    device.bytes_total = static_cast<uint64_t>(positive(one, "gib") * static_cast<double>(uint64_t{1} << 30));
    device.bytes_free = device.bytes_total;
    device.flops = positive(one, "tflops") * 1e12;
    return device;
}

}  // namespace

DeviceFile DeviceFile::read(const std::filesystem::path& path) {
    const nlohmann::json file = readJsonFile(path);
    return withJsonErrors(path, [&] {
        DeviceFile result;
        const double share = positive(file, "read_share");
        for (const auto& one : file.at("graphics")) {
            Device device = basic(one);
            device.kind = Kind::cuda;
            device.read_bytes_per_s = share * positive(one, "memory_gb_s") * 1e9;
            device.copy_bytes_per_s = positive(one, "copy_gb_s") * 1e9;
            device.handover_s = positive(file, "handover_us") * 1e-6;
            device.layer_s = positive(file, "layer_us") * 1e-6;
            device.context_bytes = static_cast<uint64_t>(positive(file, "driver_gb") * 1e9);
            result.devices_.push_back(std::move(device));
        }
        for (const auto& one : file.at("processors")) {
            Device device = basic(one);
            device.read_bytes_per_s = positive(one, "read_gb_s") * 1e9;
            result.devices_.push_back(std::move(device));
        }
        return result;
    });
}

void DeviceFile::giveSpeeds(Device& card, std::string_view makers_name) const {
    std::string plain;
    for (const char c : makers_name)
        if (c != ' ') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    for (const Device& known : devices_) {
        // At the end: an RTX 4060 Ti is no RTX 4060, a laptop's card or a Super not the desktop's.
        if (known.kind != Kind::cuda || !plain.ends_with(known.name)) continue;
        card.read_bytes_per_s = known.read_bytes_per_s;
        card.flops = known.flops;
        card.handover_s = known.handover_s;
        card.layer_s = known.layer_s;
        card.copy_bytes_per_s = known.copy_bytes_per_s;
    }
}

Device DeviceFile::named(const std::string& name) const {
    const auto found = std::ranges::find(devices_, name, &Device::name);
    if (found != devices_.end()) return *found;
    std::string names;
    for (const Device& device : devices_) names += (names.empty() ? "" : ", ") + device.name;
    throw Error("cannot simulate \"" + name + "\"", "no device of that name is described", "There are: " + names);
}

}  // namespace hearth::placement
