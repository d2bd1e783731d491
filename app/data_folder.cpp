#include "app/data_folder.h"

#include <cstdlib>
#include <vector>

#include "engine/base/error.h"

namespace fs = std::filesystem;

namespace hearth::app {

fs::path dataFile(const fs::path& name) {
    std::vector<fs::path> folders;
    if (const char* named = std::getenv("HEARTH_DATA_DIR"); named != nullptr && *named != '\0')
        folders.emplace_back(named);
    std::error_code ignored;
    if (const fs::path program = fs::read_symlink("/proc/self/exe", ignored); !program.empty())
        folders.push_back(program.parent_path().parent_path() / "share" / "hearth");
    folders.push_back(fs::path(HEARTH_SOURCE_DIR) / "resources");
    for (const fs::path& folder : folders)
        if (fs::exists(folder / name, ignored)) return folder / name;
    throw Error("cannot find " + name.string(), (folders.front() / name).string() + " is not there");
}

fs::path starterModel() try {
    return dataFile(fs::path("starter") / "SmolLM2-135M-Instruct.Q4_1.gguf");
} catch (const Error& error) {
    throw Error("cannot find the starter model", error.why(), "Name a model file");
}

}  // namespace hearth::app
