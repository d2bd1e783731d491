#!/usr/bin/env python3
"""Grammar cases with expected answers from the packages `regex` and `jsonschema`. Writes cases.json and masks.json."""
import json
import pathlib
import random

import jsonschema
import regex

HERE = pathlib.Path(__file__).parent

# name, grammar, the same as a regular expression, texts that begin well
GRAMMARS = [
    ("key and value", 'root ::= key "=" value (";" key "=" value)*\nkey ::= [a-z] [a-z0-9]*\nvalue ::= "\\"" [^"]* "\\"" | [0-9]+',
     r'[a-z][a-z0-9]*=("[^"]*"|[0-9]+)(;[a-z][a-z0-9]*=("[^"]*"|[0-9]+))*', ['a=1', 'ab9="x y";c=22', 'z="é";y=""']),
    ("version", 'root ::= "v" n "." n ("." n)? ("-" ("alpha" | "beta" | "rc" n))?\nn ::= "0" | [1-9] [0-9]{0,3}',
     r'v(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})(\.(0|[1-9][0-9]{0,3}))?(-(alpha|beta|rc(0|[1-9][0-9]{0,3})))?',
     ['v1.0', 'v10.2.3-rc4', 'v0.0-beta', 'v9999.1.0-alpha']),
    ("hex colour", 'root ::= "#" ([0-9a-fA-F]{3}){1,2}', r'#([0-9a-fA-F]{3}){1,2}', ['#a0f', '#A0b1C2']),
    ("clock", 'root ::= ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]', r'([01][0-9]|2[0-3]):[0-5][0-9]', ['00:00', '23:59', '19:30']),
    ("greek words", 'root ::= [α-ω]{2,5} (" " [Α-Ω] [α-ω]*)*', r'[α-ω]{2,5}( [Α-Ω][α-ω]*)*', ['αβγ', 'λογος Ω', 'αα Αβγ Δ']),
    ("emoji pairs", 'root ::= ([\\U0001F300-\\U0001F5FF] "\\uFE0F"?)+ "!"', '([\U0001F300-\U0001F5FF]\uFE0F?)+!', ['\U0001F300!', '\U0001F5FF\uFE0F\U0001F400!']),
    ("negated", 'root ::= [^a-zA-Z\\n]+ "\\n"', r'[^a-zA-Z\n]+\n', ['12 3\n', 'é日\n', '--\n']),
    ("counted words", 'root ::= ([a-c]+ ","){2,3} [x]{0,2}', r'([a-c]+,){2,3}[x]{0,2}', ['a,b,', 'abc,a,c,xx', 'a,a,x']),
    ("two ways", 'root ::= ("ab" | "a") ("bc" | "c") "d"*', r'(ab|a)(bc|c)d*', ['abc', 'abbc', 'ac', 'abcdd']),
    ("empty pieces", 'root ::= ("" | "a" | "") ("b"? "c"?)* ""', r'(|a)(b?c?)*', ['', 'a', 'abcb', 'cc']),
    ("nested lists, three deep", 'root ::= "[" ("[" ("[" [0-9]* "]")* "]")* "]"', r'\[(\[(\[[0-9]*\])*\])*\]', ['[]', '[[]]', '[[[12][]]]']),
    ("percent", 'root ::= ("100" | [1-9]? [0-9]) ("." [0-9]{1,2})? " "? "%"', r'(100|[1-9]?[0-9])(\.[0-9]{1,2})? ?%', ['5%', '100 %', '42.25%']),
    ("any", 'root ::= "<" .{0,3} ">"', r'(?s)<.{0,3}>', ['<>', '<é\n>', '<>>>']),
    ("right recursive", 'root ::= "x" rest\nrest ::= "" | "," root', r'x(,x)*', ['x', 'x,x', 'x,x,x']),
    ("escapes", 'root ::= "\\x09\\u00DF\\U0001F600" [\\]\\[\\\\"]*', '\t\u00df\U0001F600[\\]\\[\\\\"]*', ['\t\u00df\U0001F600', '\t\u00df\U0001F600[]\\"']),
]

INVALID = {
    "left recursion over three rules": 'root ::= a\na ::= b "x" | "y"\nb ::= c?  "z"\nc ::= root "q"',
    "left recursion behind two empty rules": 'root ::= e f root | "b"\ne ::= "a"*\nf ::= e',
    "nothing ends": 'root ::= "a" root',
    "only a class that nothing is in": 'root ::= [\\uD800-\\uDFFF]',
    "no body": "root",
    "quote in class": 'root ::= [a-',
    "not UTF-8 escape": 'root ::= "\\UFFFFFFFF"',
    "two colons and no equals": 'root :: "a"',
    "token without vocabulary": "root ::= <think>",
    "negation of text": 'root ::= !"a"',
    "nested repetition too large": 'root ::= (("a"{1000}){1000}){1000}',
}
LIMITS = {
    "a hundred thousand optionals": 'root ::= ("a"?){100000}',
    "ten thousand alternatives": "root ::= " + " | ".join(f'"{i}x"' for i in range(10000)),
    "ambiguous stars": "root ::= " + "(" * 40 + '"a"' + "*)" * 40 + "*",
    "calls in calls": "root ::= r0\n" + "\n".join(f'r{i} ::= r{i+1} r{i+1} "b"?' for i in range(60)) + '\nr60 ::= "a"?',
    "many empty rules": "root ::= " + " ".join(f"e{i}" for i in range(3000)) + ' "k"\n' + "\n".join(f'e{i} ::= "a"?' for i in range(3000)),
    "long class": "root ::= [" + "".join(chr(0x4E00 + 2 * i) for i in range(8000)) + "]*",
    "deep recursion": "root ::= " + "(" * 499 + '"a"' + ")" * 499,
}

INT = {"type": "integer"}
# name, schema, documents that must be possible
SCHEMAS = [
    ("person", {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
                "mail": {"type": "string", "format": "email"}}, "required": ["name", "age"], "additionalProperties": False},
     ['{"name": "Li", "age": 0}', '{"name": "Zoë", "age": 150, "mail": "zoe@example.org"}']),
    ("integers to 1000", {"type": "integer", "minimum": -37, "maximum": 1000}, ["-37", "-9", "0", "8", "99", "123", "1000"]),
    ("integers from 95", {"type": "integer", "minimum": 95}, ["95", "99", "100", "20000"]),
    ("integers below -19", {"type": "integer", "exclusiveMaximum": -19}, ["-20", "-99", "-1234"]),
    ("fractions 0 to 1", {"type": "number", "minimum": 0, "maximum": 1}, ["0", "0.5", "0.001", "1", "1.0"]),
    ("fractions -2.5 to 3.75", {"type": "number", "minimum": -2.5, "exclusiveMaximum": 3.75}, ["-2.5", "-2.25", "-1", "0", "0.125", "3.7", "3.749", "3"]),
    ("fractions 0.125 to 0.25", {"type": "number", "exclusiveMinimum": 0.125, "maximum": 0.25}, ["0.25", "0.126", "0.1251", "0.2"]),
    ("fractions above 10", {"type": "number", "exclusiveMinimum": 10}, ["10.1", "11", "1000.5"]),
    ("fractions below -3", {"type": "number", "maximum": -3}, ["-3", "-3.5", "-10"]),
    ("pattern words", {"type": "string", "pattern": "^\\w+(\\s\\w+)*$"}, ['"a b"', '"x_1"', '"a\\tb"']),
    ("pattern somewhere", {"type": "string", "pattern": "ab+c"}, ['"abc"', '"xxabbcyy"', '"\\nabc\\""']),
    ("pattern alternatives with own ends", {"type": "string", "pattern": "^a|b$"}, ['"axx"', '"xxb"', '"a"', '"b"']),
    ("pattern quotes", {"type": "string", "pattern": "^\"[^\"\\\\]{1,4}\\\\?$"}, ['"\\"ab"', '"\\"abcd\\\\"', '"\\"\\n"']),
    ("pattern lazy and classes", {"type": "string", "pattern": "^[^\\s,]+?,(?:\\d{1,3}|[A-F-]+)\\.$"}, ['"x,12."', '"é,A-F."']),
    ("dates", {"type": "string", "format": "date"}, ['"2024-02-29"', '"2000-02-29"', '"2026-12-31"', '"1999-04-30"']),
    ("ipv4", {"type": "string", "format": "ipv4"}, ['"0.0.0.0"', '"255.255.255.255"', '"192.168.1.20"']),
    ("date and time", {"type": "string", "format": "date-time"}, ['"2026-02-28T23:59:59Z"', '"2026-11-30T09:05:00.5+01:00"']),
    ("map with at most two", {"type": "object", "additionalProperties": INT, "maxProperties": 2}, ["{}", '{"a": 1}', '{"a": 1, "b": 2}']),
    ("map with at least one", {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 1}, ['{"a": true}', '{"a": true, "b": false}']),
    ("others beside names that begin alike", {"type": "object", "properties": {"ab": INT, "a": INT, "é": INT}, "required": ["ab"],
     "additionalProperties": {"type": "string"}}, ['{"ab": 1}', '{"ab": 1, "a": 2, "abc": "x"}', '{"ab": 1, "b": "x", "": "y"}', '{"ab": 1, "è": "x"}']),
    ("required without a schema", {"type": "object", "properties": {"a": INT}, "required": ["z", "a"]}, ['{"a": 1, "z": [true]}']),
    ("tuple with rest", {"type": "array", "prefixItems": [{"type": "string"}, INT], "items": {"type": "boolean"}, "minItems": 1, "maxItems": 4},
     ['["a"]', '["a", 1]', '["a", 1, true]', '["a", 1, true, false]']),
    ("tuple cut short", {"type": "array", "prefixItems": [INT, False, INT]}, ["[]", "[1]"]),
    ("exactly three", {"type": "array", "items": INT, "minItems": 3, "maxItems": 3}, ["[1, 2, 3]"]),
    ("at least four", {"type": "array", "items": INT, "minItems": 4}, ["[1, 2, 3, 4]", "[1,2,3,4,5]"]),
    ("one at most", {"type": "array", "items": INT, "maxItems": 1}, ["[]", "[7]"]),
    ("allOf with references", {"$defs": {"b": {"properties": {"id": INT}, "required": ["id"]}}, "type": "object",
     "allOf": [{"$ref": "#/$defs/b"}, {"properties": {"id": {"minimum": 5}, "s": {"type": "string"}}}]}, ['{"id": 5}', '{"id": 70, "s": ""}']),
    ("allOf narrows", {"allOf": [{"type": ["integer", "string"]}, {"type": ["integer", "null"]}, {"minimum": 3}]}, ["3", "10"]),
    ("anyOf beside limits", {"type": "integer", "minimum": 10, "anyOf": [{"maximum": 12}, {"minimum": 95, "maximum": 99}]}, ["10", "12", "95", "99"]),
    ("oneOf told apart by a constant", {"oneOf": [
        {"type": "object", "properties": {"k": {"const": "circle"}, "r": {"type": "number"}}, "required": ["k", "r"]},
        {"type": "object", "properties": {"k": {"const": "square"}, "a": {"type": "number"}}, "required": ["k", "a"]}]},
     ['{"k": "circle", "r": 1.5}', '{"k": "square", "a": 2}']),
    ("oneOf told apart by ranges", {"oneOf": [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 8}, {"type": "boolean"}]}, ["3", "-5", "8", "true"]),
    ("enum with a type", {"type": ["string", "null"], "enum": ["a", 1, None, "b\"c", [1]]}, ['"a"', "null", '"b\\"c"']),
    ("enum within limits", {"enum": [1, 5, 9, "long", "s"], "minimum": 4, "maxLength": 2}, ["5", "9", '"s"']),
    ("escaped pointer", {"$defs": {"a/b": {"c%d": INT}}, "$ref": "#/$defs/a~1b/c%25d"}, ["4"]),
    ("names with controls", {"type": "object", "properties": {"a\tb": INT, "c\\d": INT, "\u0001": INT}, "required": ["a\tb"], "additionalProperties": INT},
     ['{"a\\tb": 1}', '{"a\\tb": 1, "c\\\\d": 2}', '{"a\\tb": 1, "x": 2}']),
    ("recursion through allOf", {"type": "object", "properties": {"v": INT, "sub": {"allOf": [{"$ref": "#"}]}}, "required": ["v"], "additionalProperties": False},
     ['{"v": 1}', '{"v": 1, "sub": {"v": 2, "sub": {"v": 3}}}']),
]


def mutants(rng, text, alphabet):
    for _ in range(60):
        t = list(text)
        for _ in range(rng.choice([1, 1, 2])):
            at = rng.randrange(len(t) + 1)
            kind = rng.randrange(4)
            if kind == 0:
                t.insert(at, rng.choice(alphabet))
            elif t and kind == 1:
                del t[min(at, len(t) - 1)]
            elif t and kind == 2:
                t[min(at, len(t) - 1)] = rng.choice(alphabet)
            else:
                t = t[:at]
        yield "".join(t)


def grammar_case(rng, name, grammar, expression, seeds):
    case = {"name": name, "grammar": grammar, "accept": [], "prefix": [], "reject": []}
    compiled = regex.compile(expression)
    texts = list(seeds) + [""]
    for s in seeds:
        assert compiled.fullmatch(s), (name, s)
        texts += mutants(rng, s, s + "abc019 \n\"é日\U0001F600")
    for text in sorted(set(texts), key=texts.index):
        full, part = compiled.fullmatch(text), compiled.fullmatch(text, partial=True)
        group = "accept" if full else "prefix" if part else "reject"
        if len(case[group]) < 25:
            case[group].append(text)
    return case


def usual(text):
    """Laid out as Hearth promises to allow it; anything else is free."""
    value = json.loads(text)
    return text in (json.dumps(value, ensure_ascii=False), json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def schema_case(rng, name, schema, accept):
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    case = {"name": name, "schema": schema, "accept": accept, "reject": []}

    def valid(text):
        try:
            return validator.is_valid(json.loads(text, parse_constant=lambda c: 1 / 0))
        except (ValueError, ZeroDivisionError):
            return False

    for text in accept:
        assert valid(text), (name, text)
        for m in mutants(rng, text, text + '0123456789.-",:{}[] aé'):
            if not valid(m) and m not in case["reject"] and len(case["reject"]) < 60:
                case["reject"].append(m)
    return case


def pieces(rng):
    out = [bytes([b]) for b in range(256)]
    words = ["ab", "a=", "=1", '"x', ';c', " αβ", "αβ", "β", "日本", "é", "v1", ".0", "-rc", "\U0001F300", "\U0001F300\uFE0F", "12", "\n", ":5", "23", "ff", "#a", "100", "%"]
    out += [w.encode() for w in words]
    for w in words:   # cut inside characters
        b = w.encode()
        out += [b[:-1], b[1:]] if len(b) > 1 else []
    for _ in range(60):
        b = ("".join(rng.choice(words) for _ in range(3))).encode()
        i = rng.randrange(len(b))
        out.append(b[i : i + rng.randint(1, 7)])
    return sorted({b for b in out if b})


def next_bytes(tail):
    """Code points that an unfinished character can become; a sample of them when there are more than 4096."""
    b = tail[0]
    n = 2 if b < 0xE0 else 3 if b < 0xF0 else 4
    if len(tail) >= n:
        return
    lo = tail + b"\x80" * (n - len(tail))
    bits = (lo[0] & (0x7F >> n))
    for x in lo[1:]:
        bits = bits << 6 | (x & 0x3F)
    size = 64 ** (n - len(tail))
    for c in range(bits, bits + size, 1 if size <= 4096 else 16):
        if c <= 0x10FFFF and not 0xD800 <= c <= 0xDFFF and chr(c).encode()[: len(tail)] == tail:
            yield c


def possible(compiled, data):
    for cut in range(0, 4):
        head, tail = (data, b"") if cut == 0 else (data[:-cut], data[-cut:])
        try:
            text = head.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if not tail:
            return compiled.fullmatch(text, partial=True) is not None
        if not 0xC2 <= tail[0] <= 0xF4:
            continue
        return any(compiled.fullmatch(text + chr(c), partial=True) for c in next_bytes(tail))
    return False


def main():
    rng = random.Random(20261130)
    cases = {
        "gbnf": [grammar_case(rng, *g) for g in GRAMMARS],
        "gbnf_refused": [{"name": n, "grammar": g, "invalid": True} for n, g in INVALID.items()]
        + [{"name": n, "grammar": g, "within_limits": True} for n, g in LIMITS.items()],
        "json_schema": [schema_case(rng, *s) for s in SCHEMAS],
    }
    lines = [f'"{k}": [\n' + ",\n".join(json.dumps(c) for c in v) + "\n]" for k, v in cases.items()]
    (HERE / "cases.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")

    vocabulary = pieces(rng)
    masks = []
    for name, grammar, expression, seeds in GRAMMARS:
        compiled = regex.compile(expression)
        starts = {b""}
        for s in seeds:
            data = s.encode()
            starts |= {data[: rng.randrange(len(data) + 1)] for _ in range(3)} | {data}
        for start in sorted(starts):
            allowed = [i for i, p in enumerate(vocabulary) if possible(compiled, start + p)]
            try:
                ends = compiled.fullmatch(start.decode()) is not None
            except UnicodeDecodeError:
                ends = False
            masks.append({"name": name, "grammar": grammar, "start_hex": start.hex(), "may_end": ends, "allowed": allowed})
    (HERE / "masks.json").write_text(
        '{"pieces_hex": ' + json.dumps([p.hex() for p in vocabulary]) + ',\n"cases": [\n' + ",\n".join(json.dumps(m) for m in masks) + "\n]}\n")


if __name__ == "__main__":
    main()
