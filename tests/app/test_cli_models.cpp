#include <algorithm>
#include <cmath>

#include "tests/app/cli_process.h"

using namespace hearth::test;

namespace {

std::vector<float> floatsOf(const QByteArray& bytes) {
    std::vector<float> values(static_cast<size_t>(bytes.size()) / sizeof(float));
    std::memcpy(values.data(), bytes.constData(), values.size() * sizeof(float));
    return values;
}

nlohmann::json jsonOf(const Result& r) { return nlohmann::json::parse(r.out.toStdString()); }

}  // namespace

/// What the commands compute, against tests/data.
class TestCliModels : public QObject {
    Q_OBJECT

    Folder folder_;

    std::vector<float> logitsOf(const QString& file, const QByteArray& ids, const QStringList& more = {}) {
        const QString out = folder_.path("logits.f32");
        const Result r =
            run(QStringList{"logits", file, "--tokens-file", folder_.write("ids", ids), "--out", out} + more);
        if (r.code != 0) qWarning("%s", about(r).constData());
        return r.code == 0 ? floatsOf(read(out)) : std::vector<float>();
    }

private slots:
    void logits_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("limit");
        QTest::newRow("llama") << "llama" << 1e-9;
        QTest::newRow("quantised") << "llama_quants" << 3e-3;
        QTest::newRow("experts") << "qwen3moe" << 1e-9;
        QTest::newRow("recurrent") << "qwen35" << 1e-9;
    }
    void logits() {
        QFETCH(QString, name);
        QFETCH(double, limit);
        const auto folder = dataFolder() / "models";
        const auto about = readJson(folder / (name.toStdString() + ".json"));
        const std::vector<float> want = readFloats(folder / about["logits_file"].get<std::string>());
        const QByteArray ids = QByteArray::fromStdString(about["tokens"].dump()).replace("[", "").replace("]", "");
        for (const QStringList& more :
             {QStringList{}, QStringList{"--batch", "1"}, QStringList{"--batch", "7", "--threads", "3"}}) {
            const std::vector<float> got = logitsOf(model(qPrintable(name)), ids, more + QStringList{"--kv", "f32"});
            QCOMPARE(got.size(), want.size());
            double error = 0, size = 0;
            for (size_t i = 0; i < want.size(); ++i) {
                error += std::pow(double{got[i]} - want[i], 2);
                size += double{want[i]} * want[i];
            }
            QVERIFY2(error / size <= limit, qPrintable(QString("%1: NMSE %2").arg(more.join(' ')).arg(error / size)));
        }
        const std::vector<float> one = logitsOf(model(qPrintable(name)), ids, {"--threads", "1"});
        QVERIFY(!one.empty());
        QVERIFY(logitsOf(model(qPrintable(name)), ids, {"-t", "3"}) == one);
    }

    /// Skipping what is zero changes no bit, and the order of summation that it needs next to nothing.
    void sparse() {
        const QByteArray ids = "3,17,5,9,11,2,30,8,1,40";
        const std::vector<float> off = logitsOf(model("opt_dense"), ids, {"--sparse", "off", "--batch", "1"}),
                                 all = logitsOf(model("opt_dense"), ids, {"--sparse", "all", "--batch", "1"});
        QVERIFY(!off.empty());
        QVERIFY(!all.empty());
        QVERIFY(logitsOf(model("opt_dense"), ids, {"--sparse", "exact", "--batch", "1"}) == all);
        QVERIFY(std::ranges::equal(off, all,
                                   [](float a, float b) { return std::abs(a - b) <= 1e-2f * (1 + std::abs(b)); }));
    }

    void tokenize_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"spm", "bpe-qwen2", "unigram", "wordpiece", "gemma4"}) QTest::newRow(name) << name;
    }
    void tokenize() {
        QFETCH(QString, name);
        const auto folder = dataFolder() / "tokenizers";
        const auto cases = readJson(folder / (name.toStdString() + ".json"));
        const QString vocabulary = text(folder / (name.toStdString() + ".gguf"));
        for (size_t i = 0; i < cases.size(); i += cases.size() / 6) {
            const auto& one = cases[i];
            if (!one.contains("text") || !one["ids"].is_array()) continue;
            const QString file = folder_.write("text", QByteArray::fromStdString(one["text"].get<std::string>()));
            const Result r = run({"tokenize", vocabulary, "--json", "--no-bos", "--text-file", file});
            QVERIFY2(r.code == 0, about(r));
            QVERIFY2(jsonOf(r) == one["ids"], one.dump().c_str());
        }
    }

    void detokenize() {
        const QByteArray words = "Once upon a time, there was a little girl named Lily.";
        const Result ids = run({"tokenize", stories(), "--json"}, words);
        QVERIFY2(ids.code == 0, about(ids));
        QCOMPARE(jsonOf(ids)[0].get<int>(), 1);   // the vocabulary asks for its beginning-of-text token
        const QString list = QString::fromLatin1(ids.out.trimmed()).remove('[').remove(']');
        QCOMPARE(run({"detokenize", stories(), list}).out, words);
        QCOMPARE(run({"detokenize", stories(), "--tokens-file", folder_.write("ids", list.toLatin1())}).out, words);
        QCOMPARE(run({"detokenize", stories()}, list.toLatin1()).out, words);
        QVERIFY(run({"detokenize", stories(), list, "--control"}).out.contains("<s>"));
        QCOMPARE(jsonOf(run({"detokenize", stories(), list, "--json"})).get<std::string>(), words.toStdString());
    }

    void renderTemplate() {
        const QString file = folder_.write("t.jinja",
                                           "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{{ "
                                           "strftime_now('%d %b %Y %H:%M:%S %A') }}");
        const QString context = folder_.write(
            "c.json",
            R"({"messages": [{"role": "user", "content": "Grüße <&>"}, {"role": "assistant", "content": ""}]})");
        const Result r = run({"template", file, "--context", context, "--now", "2026-11-30T09:05:00"});
        QVERIFY2(r.code == 0, about(r));
        QCOMPARE(r.out, QByteArray("[user] Grüße <&>\n[assistant] \n30 Nov 2026 09:05:00 Monday"));
        const Result refused = run(
            {"template", folder_.write("r.jinja", "{{ raise_exception('only two turns') }}"), "--context", context});
        QCOMPARE(refused.code, 1);
        QVERIFY(refused.err.contains("only two turns"));
    }

    void dequantize() {
        for (const char* type : {"Q4_K", "MXFP4", "Q8_0"}) {
            const auto blocks = dataFolder() / "blocks" / (std::string(type) + ".bin");
            const Result r = run({"dequantize", type, text(blocks), folder_.path("out.f32")});
            QVERIFY2(r.code == 0, about(r));
            const std::vector<float> got = floatsOf(read(folder_.path("out.f32"))),
                                     want = readFloats(dataFolder() / "blocks" / (std::string(type) + ".f32"));
            QCOMPARE(got.size(), want.size());
            const auto same = [](float a, float b) {
                return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 3e-8f * std::abs(b);
            };
            QVERIFY2(std::ranges::equal(got, want, same), type);
        }
    }

    void inspect() {
        const auto report = jsonOf(run({"inspect", stories(), "--json"}));
        QCOMPARE(report["architecture"].get<std::string>(), std::string("llama"));
        QCOMPARE(report["layers"].get<int>(), 5);
        QCOMPARE(report["width"].get<int>(), 64);
        QCOMPARE(report["vocabulary"]["tokens"].get<int>(), 512);
        QCOMPARE(report["bytes"].get<qint64>(), QFileInfo(stories()).size());
        QCOMPARE(report["template"].get<bool>(), false);
        uint64_t sum = 0;
        for (const auto& [what, bytes] : report["memory"]["parts"].items()) sum += bytes.get<uint64_t>();
        QCOMPARE(report["memory"]["total"].get<uint64_t>(), sum);
        // 5 layers, 4 key/value heads of width 8, keys and values, half precision: formats §2.1
        QCOMPARE(report["memory"]["parts"]["KV cache"].get<uint64_t>(),
                 report["memory"]["context"].get<uint64_t>() * 5 * 4 * 8 * 2 * 2);
        QVERIFY(QStringList({"generic", "avx2", "avxvnni", "avx512"})
                    .contains(QString::fromStdString(report["isa"].get<std::string>())));
        const Result words = run({"inspect", stories()});
        QCOMPARE(words.code, 0);
        for (const char* word : {"llama", "512 tokens", "KV cache", "scratch", "licence"})
            QVERIFY2(words.out.contains(word), word);
    }

    void planAndDevices() {
        const auto devices = jsonOf(run({"devices", "--json"}));
        QCOMPARE(devices[0]["name"].get<std::string>(), std::string("cpu"));
        QVERIFY(devices[0]["bytes_total"].get<uint64_t>() >= devices[0]["bytes_free"].get<uint64_t>());
        const auto whole = jsonOf(run({"plan", stories(), "--json", "-c", "1024"}));
        const auto half = jsonOf(run({"plan", stories(), "--json", "-c", "512"}));
        QCOMPARE(whole["ctx"].get<int>(), 1024);
        const auto cache = [](const nlohmann::json& plan) {
            for (const auto& part : plan["parts"])
                if (part["what"] == "KV cache") return part["bytes"].get<uint64_t>();
            return uint64_t{0};
        };
        QCOMPARE(cache(whole), 2 * cache(half));
        const auto small = jsonOf(run({"plan", stories(), "--json", "--budget", "10M"}));
        QVERIFY(QByteArray::fromStdString(small["limit"].get<std::string>()).contains("main memory"));
    }

    /// Before anything is bought or downloaded: a described model on a described machine.
    void planForOthers() {
        const QStringList asked{"plan",  "--shape", "relullama-13b", "--simulate", "rtx4090,pc-high", "--sparse",
                                "exact", "-c",      "512",           "--json"};
        const auto plan = [&](const QStringList& more) { return jsonOf(run(asked + more)); };
        const auto six = plan({"--vram-budget", "6G"}), eight = plan({"--vram-budget", "8G"}),
                   free = plan({"--vram-budget", "auto"});
        QVERIFY(six["totals"]["cuda:0"].get<uint64_t>() <= uint64_t{6} << 30);
        QVERIFY(six["decode_tps"].get<double>() > 0 &&
                eight["decode_tps"].get<double>() > six["decode_tps"].get<double>());
        QVERIFY(six["prefill_tps"].get<double>() > 0 && six["tps_per_gib"].get<double>() > 0);
        QCOMPARE(free["tps_per_gib"].get<double>(), 0.0);
        QVERIFY(QByteArray::fromStdString(six["limit"].get<std::string>()).contains("graphics memory"));
        const auto named = plan({"--gpu", "cuda:0=6G"});
        QCOMPARE(named["parts"], six["parts"]);
        // Without a cut each layer's feed-forward is on one side, which is slower here.
        const auto whole = plan({"--vram-budget", "6G", "--disable-gpu-index"});
        for (const auto& layer : whole["layers"]) QCOMPARE(layer["feed_forward"].size(), size_t{1});
        QVERIFY(whole["decode_tps"].get<double>() < six["decode_tps"].get<double>());
        QCOMPARE(run({"plan", "--shape", "relullama-13b", "--simulate", "rtx9090"}).code, 1);
        QCOMPARE(run(asked + QStringList{"--gpu", "cuda:5"}).code, 1);
        QCOMPARE(run(asked + QStringList{"--gpu", "cuda:0=much"}).code, 2);
        QCOMPARE(run({"plan"}).code, 2);
        QVERIFY(run({"devices", "--described"}).out.contains("rtx2080ti"));
    }

    /// A quantised matrix value differs from the original, the names and sizes of the model do not.
    void quantize() {
        const QString out = folder_.path("q8.gguf");
        const Result r = run({"quantize", stories(), out, "Q8_0"});
        QVERIFY2(r.code == 0, about(r));
        QVERIFY(r.out.isEmpty());
        const auto before = jsonOf(run({"inspect", stories(), "--json"})),
                   after = jsonOf(run({"inspect", out, "--json"}));
        QCOMPARE(after["parameters"].get<uint64_t>(), before["parameters"].get<uint64_t>());
        QCOMPARE(after["tensors"].get<uint64_t>(), before["tensors"].get<uint64_t>());
        QVERIFY(after["types"].contains("Q8_0"));
        QVERIFY(after["bytes"].get<uint64_t>() < before["bytes"].get<uint64_t>());
        QCOMPARE(run({"quantize", out, folder_.path("q4.gguf"), "Q4_0"}).code, 0);   // from Q8_0 is fine
        const Result twice = run({"quantize", folder_.path("q4.gguf"), folder_.path("q5.gguf"), "Q5_0"});
        QCOMPARE(twice.code, 1);
        QVERIFY(!QFile::exists(folder_.path("q5.gguf")));
        QCOMPARE(
            run({"quantize", folder_.path("q4.gguf"), folder_.path("q5.gguf"), "Q5_0", "--allow-requantizing"}).code,
            0);
    }

    /// The definition, from the logits that another command gives: e to the mean of −ln p over the second half of a window.
    void perplexity() {
        const QByteArray words =
            "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she "
            "saw a big ball.";
        const QString file = folder_.write("text", words);
        auto ids =
            jsonOf(run({"tokenize", stories(), "--json", "--no-bos", "--text-file", file})).get<std::vector<int>>();
        ids.insert(ids.begin(), 1);
        QByteArray list;
        for (const int id : ids) list += QByteArray::number(id) + ",";
        const std::vector<float> logits = logitsOf(stories(), list);
        QCOMPARE(logits.size(), ids.size() * 512);
        double sum = 0, squares = 0, n = 0;
        for (size_t at = ids.size() / 2; at + 1 < ids.size(); ++at, ++n) {
            double all = 0;
            for (size_t t = 0; t < 512; ++t) all += std::exp(double{logits[at * 512 + t]});
            const double nll = std::log(all) - logits[at * 512 + static_cast<size_t>(ids[at + 1])];
            sum += nll;
            squares += nll * nll;
        }
        const double want = std::exp(sum / n), error = want * std::sqrt((squares / n - sum / n * sum / n) / (n - 1));
        const Result r = run({"perplexity", stories(), "--text-file", file, "--json"});
        QVERIFY2(r.code == 0, about(r));
        const auto report = jsonOf(r);
        QCOMPARE(report["tokens"].get<double>(), n);
        QVERIFY(std::abs(report["perplexity"].get<double>() - want) < 1e-4 * want);
        QVERIFY(std::abs(report["error"].get<double>() - error) < 1e-3 * error);
        QVERIFY(run({"perplexity", stories(), "--text-file", file}).out.contains("±"));
    }

    /// A model without zeros computes the same in both modes.
    void perplexityAgainstAnotherMode() {
        const QString file =
            folder_.write("text", QByteArray("The cat sat on the mat and looked at the sun. ").repeated(9));
        const Result r = run({"perplexity", stories(), "--text-file", file, "--json", "-c", "64", "--sparse", "exact",
                              "--against", "off"});
        QVERIFY2(r.code == 0, about(r));
        const auto against = jsonOf(r)["against"];
        QCOMPARE(against["sparse"].get<std::string>(), std::string("off"));
        QCOMPARE(against["kl"].get<double>(), 0.0);
        QCOMPARE(against["top_agreement"].get<double>(), 1.0);
        QCOMPARE(against["perplexity"], jsonOf(r)["perplexity"]);
        QCOMPARE(run({"perplexity", stories(), "--text-file", file, "--against", "threshold=2"}).code, 2);
    }

    /// A model without zeros: thresholds are learned, what they cost is said, and only then they can be used.
    void calibrate() {
        const QString cache = folder_.path("cache");
        qputenv("XDG_CACHE_HOME", cache.toUtf8());
        const QByteArray ids = "1,403,407,261,378,432,383,286";
        const QString file = folder_.write("ids", ids);
        const QStringList threshold{"logits", stories(), "--tokens-file", file, "--out", folder_.path("t.f32"), "--sparse",
                                    "threshold=0.2"};
        const Result before = run(threshold);
        QCOMPARE(before.code, 1);
        QVERIFY2(before.err.contains("calibrate"), about(before));
        const Result r = run({"calibrate", stories(), "--json"});
        QVERIFY2(r.code == 0, about(r));
        const auto table = jsonOf(r)["table"];
        QCOMPARE(table[0]["sparse"].get<std::string>(), std::string("off"));
        QCOMPARE(table[0]["kl"].get<double>(), 0.0);
        double kl = 0, active = 1;
        for (size_t i = 1; i < table.size(); ++i) {   // 0.05, 0.1, 0.2
            QVERIFY(table[i]["sparse"].get<std::string>().starts_with("threshold="));
            QVERIFY(table[i]["kl"].get<double>() > kl);
            QVERIFY(table[i]["active"].get<double>() < active);
            kl = table[i]["kl"].get<double>();
            active = table[i]["active"].get<double>();
        }
        QVERIFY(table.size() == 4);
        QCOMPARE(run(threshold).code, 0);
        const Result predict = run({"run", stories(), "-p", "Once", "-n", "2", "--sparse", "predict"});
        QCOMPARE(predict.code, 1);
        QVERIFY2(predict.err.contains("threshold"), about(predict));
        const Result profile = run({"profile", stories()});
        QCOMPARE(profile.code, 1);
        QVERIFY2(profile.err.contains("never exactly zero"), about(profile));
        qunsetenv("XDG_CACHE_HOME");
    }

    void severalWindows() {
        const QString file =
            folder_.write("text", QByteArray("The cat sat on the mat and looked at the sun. ").repeated(40));
        const auto report = jsonOf(run({"perplexity", stories(), "--text-file", file, "--json", "-c", "64"}));
        QCOMPARE(report["ctx"].get<int>(), 64);
        QVERIFY(report["windows"].get<int>() > 5);
        QCOMPARE(report["tokens"].get<int>(), report["windows"].get<int>() * 31);
    }

    void bench() {
        const Result r = run({"bench", stories(), "-p", "16", "-n", "4", "-t", "1", "--json"});
        QVERIFY2(r.code == 0, about(r));
        const auto report = jsonOf(r);
        QVERIFY(report["prefill_tps"].get<double>() > 0);
        QVERIFY(report["decode_tps"].get<double>() > 0);
        QVERIFY(report["bandwidth"].get<double>() > 0);
        QVERIFY(!report.contains("bandwidth_share"));  // a megabyte lives in the cache
        QCOMPARE(report["threads"].get<int>(), 1);
        // All tensors but the embedding, of which one row of 64 float32 is read, where an output matrix of its own exists.
        const auto about = jsonOf(run({"inspect", stories(), "--json"}));
        uint64_t all = 0;
        for (const auto& [type, bytes] : about["types"].items()) all += bytes.get<uint64_t>();
        const bool tied = !read(stories()).contains("output.weight");
        QCOMPARE(report["bytes_per_token"].get<uint64_t>(), tied ? all : all - 511 * 64 * 4);
    }
};

QTEST_GUILESS_MAIN(TestCliModels)
#include "test_cli_models.moc"
