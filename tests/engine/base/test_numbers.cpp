#include <QTest>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/base/checked.h"
#include "engine/base/half.h"

namespace {

/// The value of a small float format by its definition, in double: sign, exponent and fraction fields.
double byDefinition(uint32_t bits, int exponent_bits, int fraction_bits) {
    const uint32_t exponent = (bits >> fraction_bits) & ((1u << exponent_bits) - 1),
                   fraction = bits & ((1u << fraction_bits) - 1);
    const double sign = bits >> (exponent_bits + fraction_bits) ? -1 : 1;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
    return sign * std::ldexp((1u << fraction_bits) + fraction, static_cast<int>(exponent) - bias - fraction_bits);
}

}  // namespace

class TestNumbers : public QObject {
    Q_OBJECT

    /// Every finite value of a 16-bit format decodes to its definition and comes back; between two neighbours the middle
    /// goes to the even one and what lies beside the middle to the nearer one.
    void checkFormat(int exponent_bits, int fraction_bits, float (*decode)(uint16_t), uint16_t (*encode)(float)) {
        const auto infinity = static_cast<uint16_t>(((1u << exponent_bits) - 1) << fraction_bits);
        int wrong = 0;
        for (uint32_t sign : {0u, 0x8000u}) {
            for (uint32_t magnitude = 0; magnitude < infinity; ++magnitude) {
                const auto bits = static_cast<uint16_t>(sign | magnitude);
                const double value = byDefinition(bits, exponent_bits, fraction_bits);
                wrong += decode(bits) != value || encode(static_cast<float>(value)) != bits;
                wrong += std::signbit(decode(bits)) != (sign != 0);
                const double next =
                    byDefinition(bits + 1u, exponent_bits, fraction_bits);  // past the largest: a power of two
                const auto middle = static_cast<float>((value + next) / 2);
                const auto even = static_cast<uint16_t>(magnitude % 2 == 0 ? bits : bits + 1);
                wrong += encode(middle) != even;
                wrong += encode(std::nextafter(middle, static_cast<float>(value))) != bits;
                const float beyond = std::nextafter(
                    middle, sign ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity());
                wrong += encode(beyond) != bits + 1;
            }
        }
        QCOMPARE(wrong, 0);
        QVERIFY(std::isinf(decode(infinity)) && decode(infinity) > 0);
        QVERIFY(std::isinf(decode(infinity | 0x8000)) && decode(infinity | 0x8000) < 0);
        QCOMPARE(encode(std::numeric_limits<float>::infinity()), infinity);
        QCOMPARE(encode(std::numeric_limits<float>::max()), infinity);
        QVERIFY(std::isnan(decode(static_cast<uint16_t>(infinity + 1))));
        QVERIFY(std::isnan(decode(encode(std::numeric_limits<float>::quiet_NaN()))));
        QVERIFY(std::isnan(decode(encode(std::bit_cast<float>(0x7f800001u)))));
    }

private slots:
    void halfPrecision() { checkFormat(5, 10, hearth::halfToFloat, hearth::floatToHalf); }
    void bfloat16() { checkFormat(8, 7, hearth::bf16ToFloat, hearth::floatToBf16); }

    void checkedArithmetic() {
        constexpr uint64_t top = std::numeric_limits<uint64_t>::max();
        const uint64_t values[] = {0,           1,        2,          3,           31,      32,
                                   33,          4096,     0xffffffff, 0x100000000, top / 3, top / 2,
                                   top / 2 + 1, top - 32, top - 31,   top - 1,     top};
        __extension__ using Wide = unsigned __int128;
        const auto fits = [](Wide exact) {
            return exact <= top ? std::optional(static_cast<uint64_t>(exact)) : std::nullopt;
        };
        for (const uint64_t a : values) {
            for (const uint64_t b : values) {
                QVERIFY(hearth::checkedAdd(a, b) == fits(Wide(a) + b));
                QVERIFY(hearth::checkedMul(a, b) == fits(Wide(a) * b));
                if (b != 0) QVERIFY(hearth::checkedAlign(a, b) == fits((Wide(a) + b - 1) / b * b));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestNumbers)
#include "test_numbers.moc"
