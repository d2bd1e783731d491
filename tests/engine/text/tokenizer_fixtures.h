#pragma once

#include <QString>
#include <QTest>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/gguf/file.h"
#include "engine/text/tokenizer.h"

/// What the tokenizer tests share: where the expected values lie, and lists of failures that name their cases.
namespace hearth::text::test {

using Json = nlohmann::json;

inline std::filesystem::path ownData() { return std::filesystem::path(HEARTH_SOURCE_DIR) / "tests/data/tokenizers"; }

/// The larger set of fixtures; empty when it is not there.
inline std::filesystem::path sharedFixtures() {
    const char* set = std::getenv("HEARTH_FIXTURES");
    const std::filesystem::path root =
        set ? std::filesystem::path(set) : std::filesystem::path(HEARTH_SOURCE_DIR) / "../shared/fixtures";
    const std::filesystem::path folder = root / "tokenizers";
    return std::filesystem::exists(folder) ? folder : std::filesystem::path();
}

#define SKIP_WITHOUT_FIXTURES()                       \
    if (hearth::text::test::sharedFixtures().empty()) \
    QSKIP("the larger set of fixtures is not there (set HEARTH_FIXTURES)")

inline Json readJson(const std::filesystem::path& path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    return Json::parse(in);
}

inline std::shared_ptr<const Tokenizer> loadTokenizer(const std::filesystem::path& path) {
    return std::make_shared<Tokenizer>(std::make_shared<Vocabulary>(gguf::File::open(path)));
}

inline std::string fromHex(const std::string& hex) {
    std::string out;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        out.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return out;
}

inline std::string toHex(std::string_view bytes) {
    return QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).toHex().toStdString();
}

/// A field that is given as text or, with `_hex` behind its name, as hexadecimal bytes.
inline std::string textField(const Json& c, const std::string& name) {
    return c.contains(name) ? c.at(name).get<std::string>() : fromHex(c.at(name + "_hex").get<std::string>());
}

template <typename Ids>
std::string joined(const Ids& ids) {
    std::ostringstream out;
    const char* separator = "";
    for (auto id : ids) out << std::exchange(separator, ",") << id;
    return out.str();
}

/// Failures of many cases, shown as one.
class Failures {
public:
    void add(const std::string& text) {
        ++count_;
        if (count_ <= 20) shown_ += "\n  " + text;
    }
    size_t count() const { return count_; }
    QByteArray message(size_t cases) const {
        return QByteArray::fromStdString(std::to_string(count_) + " of " + std::to_string(cases) +
                                         " cases fail:" + shown_);
    }

private:
    size_t count_ = 0;
    std::string shown_;
};

}  // namespace hearth::text::test
