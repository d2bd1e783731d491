// Any bytes at all: opening them either works, and then everything that the file says can be read and lies inside it, or
// throws Error. A file that opens is also copied through the writer, which must accept what the reader accepted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "engine/base/error.h"
#include "engine/gguf/writer.h"

using namespace hearth;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

size_t sum = 0;  // keeps the reads below from being optimised away

void readAll(const gguf::Value& value) {
    if (value.elementType() == gguf::ValueType::String) {
        for (const std::string_view text : value.strings())
            sum += static_cast<size_t>(std::count(text.begin(), text.end(), 'x'));
        return;
    }
    try {
        for (const double number : value.numbers()) sum += number > 0;
        for (const int64_t number : value.integers()) sum += number > 0;
    } catch (const Error&) {  // a kind that is no number
    }
}

void useFile(const gguf::File& file, uint64_t size) {
    gguf::Writer writer(file.alignment(), file.isPowerInfer());
    writer.copyValues(file);
    for (const auto& [key, value] : file.values()) {
        require(file.value(key) != nullptr);
        readAll(value);
    }
    for (const gguf::Tensor& tensor : file.tensors()) {
        require(tensor.bytes > 0 && tensor.bytes <= size && tensor.file_offset <= size - tensor.bytes);
        require(file.find(tensor.name) == &tensor);
        require(tensor.rowBytes() * tensor.rows() == tensor.bytes);
        writer.addTensor(tensor.name, tensor.type, std::span(tensor.ne).first(tensor.n_dims), gguf::Writer::Source());
    }
    require(writer.fileBytes() > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    // Once as the whole file, once as the beginning of a huge one.
    for (const uint64_t file_size : {uint64_t{size}, uint64_t{1} << 40}) {
        try {
            const auto file = gguf::File::fromMemory({bytes.begin(), bytes.end()}, file_size);
            useFile(*file, file_size);
        } catch (const Error&) {
        }
    }
    return 0;
}
