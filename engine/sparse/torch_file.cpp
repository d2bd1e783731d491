#include "engine/sparse/torch_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <unordered_map>
#include <variant>

#include "engine/base/error.h"
#include "engine/sparse/stored_zip.h"

namespace hearth::sparse {
namespace {

constexpr uintmax_t kMostBytes = 64 << 20;
constexpr size_t kMostSteps = 1000;   // a tensor's pickle has about fifty

[[noreturn]] void refuse(const std::string& why) { throw Error("cannot read this PyTorch file", why); }

/// What a pickle of one tensor is made of. Tuples are kept flat: only the numbers in them matter.
struct Mark {};
struct Global {
    std::string name;
};
struct Storage {
    std::string type, key;
    int64_t count = 0;
};
struct Tuple {
    std::vector<std::variant<int64_t, std::string, Global, Storage>> items;
};
struct Tensor {
    Storage storage;
    int64_t offset = 0;
    std::vector<int64_t> numbers;   ///< size and stride, one after another
};
using Item = std::variant<Mark, int64_t, std::string, Global, Storage, Tuple, Tensor>;

/// Runs the opcodes (pickletools, protocol 2) that a tensor needs and refuses all others.
class Unpickler {
public:
    explicit Unpickler(std::span<const std::byte> bytes) : bytes_(bytes) {}

    Tensor tensor() {
        for (size_t step = 0; step < kMostSteps; ++step) {
            const auto op = static_cast<uint8_t>(take(1)[0]);
            if (op == '.') {
                if (stack_.size() != 1 || !std::holds_alternative<Tensor>(stack_[0])) refuse("it holds no tensor");
                return std::get<Tensor>(stack_[0]);
            }
            run(op);
        }
        refuse("its pickle has more in it than a tensor");
    }

private:
    std::span<const std::byte> take(size_t n) {
        if (n > bytes_.size()) refuse("its pickle is cut off");
        const auto part = bytes_.first(n);
        bytes_ = bytes_.subspan(n);
        return part;
    }
    uint64_t number(size_t bytes) {
        uint64_t value = 0;
        std::memcpy(&value, take(bytes).data(), bytes);
        return value;
    }
    std::string text(size_t n) {
        const auto part = take(n);
        return {reinterpret_cast<const char*>(part.data()), part.size()};
    }
    std::string line() {
        const auto end = std::ranges::find(bytes_, std::byte{'\n'});
        if (end == bytes_.end()) refuse("its pickle is cut off");
        std::string word = text(static_cast<size_t>(end - bytes_.begin()));
        take(1);
        return word;
    }
    void push(Item item) { stack_.push_back(std::move(item)); }
    Item pop() {
        if (stack_.empty()) refuse("its pickle is damaged");
        Item item = std::move(stack_.back());
        stack_.pop_back();
        return item;
    }
    template <typename T>
    T popAs() {
        Item item = pop();
        if (!std::holds_alternative<T>(item)) refuse("its pickle is not that of a tensor");
        return std::get<T>(std::move(item));
    }

    void run(uint8_t op) {
        switch (op) {
            case 0x80: number(1); break;                                          // PROTO
            case 'c': global(); break;
            case 'q': memo_[number(1)] = top(); break;                            // BINPUT
            case 'r': memo_[number(4)] = top(); break;                            // LONG_BINPUT
            case 'h': recall(number(1)); break;                                   // BINGET
            case 'j': recall(number(4)); break;                                   // LONG_BINGET
            case '(': push(Mark{}); break;
            case ')': push(Tuple{}); break;
            case 'X': push(text(number(4))); break;                               // BINUNICODE
            case 'K': push(static_cast<int64_t>(number(1))); break;               // BININT1
            case 'M': push(static_cast<int64_t>(number(2))); break;               // BININT2
            case 'J': push(int64_t{static_cast<int32_t>(number(4))}); break;      // BININT
            case 0x88: push(int64_t{1}); break;                                   // NEWTRUE
            case 0x89: push(int64_t{0}); break;                                   // NEWFALSE
            case 't': tuple(fromMark()); break;
            case 0x85: tuple(last(1)); break;
            case 0x86: tuple(last(2)); break;
            case 0x87: tuple(last(3)); break;
            case 'Q': persistent(); break;
            case 'R': reduce(); break;
            default: refuse("its pickle uses operation " + std::to_string(op) + ", which no tensor of numbers needs");
        }
    }

    Item& top() {
        if (stack_.empty()) refuse("its pickle is damaged");
        return stack_.back();
    }
    void recall(uint64_t id) {
        const auto found = memo_.find(id);
        if (found == memo_.end()) refuse("its pickle is damaged");
        push(found->second);
    }

    void global() {
        std::string module = line(), name = line();
        push(Global{module + "." + name});
    }

    std::vector<Item> last(size_t n) {
        if (stack_.size() < n) refuse("its pickle is damaged");
        std::vector<Item> items(std::make_move_iterator(stack_.end() - static_cast<std::ptrdiff_t>(n)),
                                std::make_move_iterator(stack_.end()));
        stack_.resize(stack_.size() - n);
        return items;
    }
    std::vector<Item> fromMark() {
        size_t n = 0;
        while (n < stack_.size() && !std::holds_alternative<Mark>(stack_[stack_.size() - 1 - n])) ++n;
        if (n == stack_.size()) refuse("its pickle is damaged");
        std::vector<Item> items = last(n);
        pop();
        return items;
    }
    void tuple(std::vector<Item> items) {
        Tuple t;
        for (Item& item : items) {
            if (auto* i = std::get_if<int64_t>(&item)) t.items.emplace_back(*i);
            else if (auto* s = std::get_if<std::string>(&item)) t.items.emplace_back(std::move(*s));
            else if (auto* g = std::get_if<Global>(&item)) t.items.emplace_back(std::move(*g));
            else if (auto* o = std::get_if<Storage>(&item)) t.items.emplace_back(std::move(*o));
            else if (auto* inner = std::get_if<Tuple>(&item))
                t.items.insert(t.items.end(), inner->items.begin(), inner->items.end());
            else refuse("its pickle is not that of a tensor");
        }
        if (t.items.size() > 32) refuse("its pickle is not that of a tensor");
        push(std::move(t));
    }

    /// ("storage", class, key, device, count)
    void persistent() {
        const Tuple t = popAs<Tuple>();
        if (t.items.size() != 5 || !std::holds_alternative<Global>(t.items[1]) ||
            !std::holds_alternative<std::string>(t.items[2]) || !std::holds_alternative<int64_t>(t.items[4]))
            refuse("its pickle is not that of a tensor");
        push(Storage{std::get<Global>(t.items[1]).name, std::get<std::string>(t.items[2]),
                     std::get<int64_t>(t.items[4])});
    }

    /// Of two functions it is known what they give; neither is called.
    void reduce() {
        const Tuple arguments = popAs<Tuple>();
        const Global function = popAs<Global>();
        if (function.name == "collections.OrderedDict" && arguments.items.empty()) {
            push(Tuple{});
        } else if (function.name == "torch._utils._rebuild_tensor_v2" && arguments.items.size() >= 2 &&
                   std::holds_alternative<Storage>(arguments.items[0])) {
            Tensor tensor{std::get<Storage>(arguments.items[0]), 0, {}};
            for (size_t i = 1; i < arguments.items.size(); ++i) {
                if (!std::holds_alternative<int64_t>(arguments.items[i])) refuse("its pickle is not that of a tensor");
                tensor.numbers.push_back(std::get<int64_t>(arguments.items[i]));
            }
            push(std::move(tensor));
        } else {
            refuse("it wants to call " + function.name.substr(0, 80) + ", which no tensor of numbers needs");
        }
    }

    std::span<const std::byte> bytes_;
    std::vector<Item> stack_;
    std::unordered_map<uint64_t, Item> memo_;
};

std::vector<std::byte> readAll(const std::filesystem::path& path) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(path, error);
    if (error) throw Error("cannot read " + path.string(), error.message());
    if (size > kMostBytes) refuse("it is larger than 64 MiB");
    std::vector<std::byte> bytes(size);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
        throw Error("cannot read " + path.string(), "it is gone or may not be read");
    return bytes;
}

}  // namespace

std::vector<int64_t> readTorchIntegers(const std::filesystem::path& path) {
    const std::vector<std::byte> zip = readAll(path);
    const auto pickle = storedEntry(zip, "/data.pkl");
    if (!pickle) refuse("it has no data.pkl");
    const Tensor tensor = Unpickler(*pickle).tensor();
    // offset, size, stride, whether a gradient is wanted
    const std::vector<int64_t>& n = tensor.numbers;
    if (n.size() != 4 || n[0] != 0 || n[2] != 1 || n[1] != tensor.storage.count || n[1] <= 0)
        refuse("its tensor is not one row of numbers");
    const bool wide = tensor.storage.type == "torch.LongStorage";
    if (!wide && tensor.storage.type != "torch.IntStorage") refuse("its numbers are not whole: " + tensor.storage.type.substr(0, 80));
    const auto data = storedEntry(zip, "/data/" + tensor.storage.key);
    const size_t count = static_cast<size_t>(n[1]), each = wide ? sizeof(int64_t) : sizeof(int32_t);
    if (!data || data->size() / each != count || data->size() % each != 0)
        refuse("it does not have as many numbers as it says");
    std::vector<int64_t> values(count);
    for (size_t i = 0; i < count; ++i) {
        int32_t narrow = 0;
        if (wide) std::memcpy(&values[i], data->data() + i * each, each);
        else {
            std::memcpy(&narrow, data->data() + i * each, each);
            values[i] = narrow;
        }
    }
    return values;
}

}  // namespace hearth::sparse
