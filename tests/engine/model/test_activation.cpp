#include <QtTest>

#include "engine/base/error.h"
#include "engine/gguf/writer.h"
#include "engine/model/activation.h"
#include "tests/support/logits.h"

using namespace hearth;
using cpu::Activation;
using model::ActivationSource;
using sparse::Mode;

namespace {

std::filesystem::path models() { return test::dataFolder() / "models"; }

/// The small llama model under another name, with or without a key that says what its activation is.
model::Description described(const std::string& name, const char* activation) {
    const auto file = gguf::File::open(models() / "llama.gguf");
    gguf::Writer writer;
    writer.copyValues(*file);
    writer.set("general.name", name);
    if (activation != nullptr) writer.set("llama.hidden_activation", activation);
    for (const gguf::Tensor& t : file->tensors())
        writer.addTensor(t.name, t.type, std::span(t.ne).first(t.n_dims), std::span(t.data, t.bytes));
    return model::Description::read(gguf::File::fromMemory(writer.header(), writer.fileBytes()));
}

}  // namespace

/// Which activation a file means, and thresholds of its gates.
class TestActivation : public QObject {
    Q_OBJECT

private slots:
    void names_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("activation");
        QTest::newRow("ReluLLaMA") << "ReluLLaMA-7B" << "relu";
        QTest::newRow("as files are called") << "prosparse-llama-2-13b.Q4_K_M" << "relu";
        QTest::newRow("ReluFalcon") << "ReluFalcon-40B-PowerInfer" << "relu";
        QTest::newRow("TurboSparse") << "TurboSparse-Mistral-Instruct" << "drelu";
        QTest::newRow("Bamboo") << "Bamboo-base-v0_1" << "drelu";
        QTest::newRow("an ordinary llama") << "Llama-3.2-1B-Instruct" << "";
        QTest::newRow("a word that only looks like it") << "Relentless-7B" << "";
    }
    void names() {
        QFETCH(QString, name);
        QFETCH(QString, activation);
        const auto hint = model::activationHint(name.toStdString());
        QCOMPARE(hint ? QString::fromStdString(std::string(model::activationName(*hint))) : QString(), activation);
    }

    /// The file's own word, then its name, then what the architecture has.
    void order() {
        const model::Description plain = described("Some llama", nullptr), named = described("ReluLLaMA-7B", nullptr),
                                 said = described("ReluLLaMA-7B", "silu"), squared = described("Some llama", "relu2");
        QCOMPARE(plain.architecture.activation, Activation::silu);
        QCOMPARE(plain.activation_source, ActivationSource::architecture);
        QCOMPARE(named.architecture.activation, Activation::relu);
        QCOMPARE(named.activation_source, ActivationSource::name);
        QCOMPARE(said.architecture.activation, Activation::silu);
        QCOMPARE(said.activation_source, ActivationSource::file);
        QCOMPARE(squared.architecture.activation, Activation::relu2);
        QVERIFY_THROWS_EXCEPTION(Error, described("Some llama", "tanh"));
    }

    /// FATReLU: gates below the threshold are zero, in every mode; what is zero is skipped as any other zero.
    void threshold() {
        const std::filesystem::path json = models() / "pwri_llama_q4_0.json";
        const test::Fixture plain(json, Mode::exact);
        ThreadPool pool(2);
        const auto at = [&](float t, Mode mode, uint64_t* added = nullptr) {
            model::Description d = *plain.description;
            d.relu_threshold = t;
            const model::Weights weights(d, mode);
            model::Forward forward(d, weights, pool, plain.context(), 1, mode);
            model::Sequence sequence(d, {.context = plain.context(), .batch = 1, .kv = cpu::KvType::f32});
            Matrix<float> logits(1, d.vocabulary);
            std::vector<float> all;
            forward.measurements().reset(false);
            for (const int32_t token : plain.tokens) {
                const model::Part part{&sequence, std::span(&token, 1), model::Part::Logits::all};
                forward.run({&part, 1}, logits.view());
                all.insert(all.end(), logits.row(0), logits.row(0) + logits.cols());
            }
            if (added != nullptr) *added = forward.measurements().neurons.added;
            return all;
        };
        uint64_t none = 0, some = 0, most = 0;
        const auto zero = at(0, Mode::exact, &none), little = at(0.3f, Mode::exact, &some);
        QVERIFY(zero == test::logitsOf(plain, pool, 1, cpu::KvType::f32));
        QVERIFY(some < none && some > 0);
        QVERIFY(little != zero);
        QVERIFY(little == at(0.3f, Mode::all));
        QVERIFY(test::nmse(little, at(0.3f, Mode::off)) < 3e-3);
        at(1e9f, Mode::exact, &most);
        QCOMPARE(most, uint64_t{0});
    }
};

QTEST_GUILESS_MAIN(TestActivation)
#include "test_activation.moc"
