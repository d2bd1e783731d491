#!/usr/bin/env python3
"""Expected results for the samplers, by a plain double-precision implementation. Prints cases.json."""
import json
import math
import random
import struct

NEG = float("-inf")


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def softmax(c):
    top = max(l for _, l in c)
    e = [math.exp(l - top) for _, l in c]
    s = math.fsum(e)
    return [x / s for x in e]


def best_first(c):
    return sorted(c, key=lambda t: (-t[1], t[0]))


def top_k(c, p, h):
    return best_first(c)[: p["k"]] if p["k"] > 0 else c


def top_p(c, p, h):
    if p["p"] >= 1:
        return c
    c = best_first(c)
    total, n = 0.0, 0
    for q in softmax(c):
        total, n = total + q, n + 1
        if total >= p["p"] and n >= p.get("min_keep", 1):
            break
    return c[:n]


def min_p(c, p, h):
    if p["p"] <= 0:
        return c
    top = max(l for _, l in c)
    kept = [t for t in c if t[1] >= top + math.log(p["p"])]
    need = p.get("min_keep", 1)
    return kept if len(kept) >= need else best_first(c)[:need]


def entropy(q):
    return -math.fsum(x * math.log(x) for x in q if x > 0)


def typical(c, p, h):
    if p["p"] >= 1:
        return c
    q = softmax(c)
    ent = entropy(q)
    order = sorted(range(len(c)), key=lambda i: (abs(-math.log(q[i]) - ent), c[i][0]))
    total, kept = 0.0, []
    for i in order:
        kept.append(c[i])
        total += q[i]
        if total > p["p"] and len(kept) >= p.get("min_keep", 1):
            break
    return kept


def top_n_sigma(c, p, h):
    if p["n"] <= 0:
        return c
    mean = math.fsum(l for _, l in c) / len(c)
    sigma = math.sqrt(math.fsum((l - mean) ** 2 for _, l in c) / len(c))
    top = max(l for _, l in c)
    return [t for t in c if t[1] >= top - p["n"] * sigma]


def temperature(c, p, h):
    if p["t"] <= 0:
        return best_first(c)[:1]
    return [(i, l / p["t"]) for i, l in c]


def dynatemp(c, p, h):
    t = p["t"]
    if p["range"] > 0 and len(c) > 1:
        lo, hi = max(0, t - p["range"]), t + p["range"]
        t = lo + (hi - lo) * (entropy(softmax(c)) / math.log(len(c))) ** p["exponent"]
    return temperature(c, {"t": t}, h)


def xtc(c, p, h):
    if p["probability"] <= 0 or p["threshold"] > 0.5:
        return c
    q = softmax(c)
    above = [c[i] for i in range(len(c)) if q[i] >= p["threshold"]]
    if len(above) < 2 or len(c) - len(above) + 1 < p.get("min_keep", 1):
        return c
    stays = best_first(above)[-1]
    return [t for t in c if t not in above or t == stays]


def penalties(c, p, h):
    recent = h[len(h) - min(p["last_n"], len(h)) :] if p["last_n"] >= 0 else h
    out = []
    for i, l in c:
        n = recent.count(i)
        if n:
            l = l * p.get("repeat", 1.0) if l <= 0 else l / p.get("repeat", 1.0)
            l -= n * p.get("frequency", 0.0) + p.get("presence", 0.0)
        out.append((i, l))
    return out


def dry(c, p, h):
    if p["multiplier"] == 0 or p["base"] < 1 or p["last_n"] == 0:
        return c
    recent = h[len(h) - min(p["last_n"], len(h)) :]
    breakers = p.get("breakers", [])
    free = len(recent)
    for b in breakers:
        for at in range(len(recent) - len(b) + 1):
            if recent[at : at + len(b)] == b:
                free = min(free, len(recent) - at - len(b))
    out = []
    for i, l in c:
        longest = 0
        for at, token in enumerate(recent):
            if token != i or [i] in breakers:
                continue
            n = 0
            while n < at and n < free and recent[at - 1 - n] == recent[len(recent) - 1 - n]:
                n += 1
            longest = max(longest, n)
        if longest and longest >= p["allowed_length"]:
            l -= p["multiplier"] * p["base"] ** (longest - p["allowed_length"])
        out.append((i, l))
    return out


def mirostat_v2(c, p, h):
    q = softmax(c)
    kept = [c[i] for i in range(len(c)) if -math.log2(q[i]) <= p["mu"]]
    return kept or best_first(c)[:1]


def adaptive_p(c, p, h):
    if p["target"] < 0:
        return c
    aim = min(1.0, max(0.0, 2 * p["target"] - p.get("average", p["target"])))
    out = []
    for (i, _), q in zip(c, softmax(c)):
        d = abs(q - aim) / 0.3
        out.append((i, 5 - 10 * d * d / (1 + d)))
    return out


def logit_bias(c, p, h):
    bias = {i: (NEG if v == "-inf" else v) for i, v in p["bias"]}
    return [t for t in ((i, l + bias.get(i, 0.0)) for i, l in c) if t[1] > NEG]


STEPS = {f.__name__: f for f in (top_k, top_p, min_p, typical, top_n_sigma, temperature, dynatemp, xtc, penalties, dry,
                                 mirostat_v2, adaptive_p, logit_bias)}


def run(case, noise=0.0, rng=None):
    c = [(i, l * (1 + noise * rng.uniform(-1, 1)) if noise else l) for i, l in enumerate(case["logits"]) if l != "-inf"]
    for step in case.get("chain", [case]):
        c = STEPS[step["sampler"]](c, step["params"], case.get("history", []))
    order = sorted(range(len(c)), key=lambda i: c[i][0])
    q = softmax(c)
    return [c[i][0] for i in order], [q[i] for i in order]


def parameters(rng, name):
    r = lambda lo, hi: round(rng.uniform(lo, hi), 3)
    return {
        "top_k": lambda: {"k": rng.choice([-1, 0, 1, 2, 3, 7, 20, 500])},
        "top_p": lambda: {"p": r(0.05, 1.05), "min_keep": rng.choice([1, 1, 3])},
        "min_p": lambda: {"p": r(0, 0.6), "min_keep": rng.choice([1, 1, 4])},
        "typical": lambda: {"p": r(0.1, 1.05), "min_keep": rng.choice([1, 1, 3])},
        "top_n_sigma": lambda: {"n": r(-0.2, 2.5)},
        "temperature": lambda: {"t": rng.choice([0.0, -1.0, r(0.2, 2.5), r(0.2, 2.5)])},
        "dynatemp": lambda: {"t": r(0.3, 1.5), "range": rng.choice([0.0, r(0.1, 2)]), "exponent": r(0.5, 2)},
        "xtc": lambda: {"probability": 1.0, "threshold": r(0.02, 0.55), "min_keep": rng.choice([1, 1, 5])},
        "penalties": lambda: {"last_n": rng.choice([0, 3, 16, 64, -1]), "repeat": r(0.8, 1.6), "frequency": r(-0.4, 0.8),
                              "presence": r(-0.4, 0.8)},
        "dry": lambda: {"multiplier": r(0.3, 1.5), "base": r(1, 2.2), "allowed_length": rng.randint(1, 4),
                        "last_n": rng.choice([8, 32, 128]), "breakers": rng.choice([[], [[0]], [[1, 2]], [[3], [4, 1]]])},
        "mirostat_v2": lambda: {"mu": r(0.3, 9), "tau": 5.0, "eta": 0.1},
        "adaptive_p": lambda: {"target": r(-0.1, 1), "decay": 0.9, "average": r(0, 1)},
        "logit_bias": lambda: {"bias": [[rng.randrange(8), rng.choice(["-inf", r(-5, 5)])]]},
    }[name]()


def main():
    rng = random.Random(20261130)
    cases = []
    names = list(STEPS)
    plan = [[n] for n in names for _ in range(9)] + [
        rng.sample([n for n in names if n not in ("mirostat_v2", "adaptive_p")], rng.randint(2, 7)) for _ in range(40)]
    for chain in plan:
        for _ in range(50):
            n = rng.choice([1, 2, 8, 16, 33, 70, 300])
            scale = rng.choice([0.3, 2, 6])
            logits = [single(round(rng.gauss(0, scale), 4)) for _ in range(n)]
            if n > 4 and rng.random() < 0.2:
                logits[rng.randrange(1, n)] = "-inf"
            case = {"sampler": chain[0], "params": parameters(rng, chain[0]), "logits": logits,
                    "history": [rng.randrange(5) for _ in range(rng.randrange(60))]}
            if len(chain) > 1:
                case["sampler"] = "chain"
                case["chain"] = [{"sampler": s, "params": parameters(rng, s)} for s in chain]
                del case["params"]
            try:
                keep, probs = run(case)
            except ValueError:   # nothing left
                continue
            if all(run(case, 1e-6, rng)[0] == keep for _ in range(8)):
                break
        else:
            raise SystemExit("no stable case for " + "+".join(chain))
        case["name"] = "+".join(chain) + f", n={n}"
        case["keep"], case["probs"] = keep, [float(f"{q:.9g}") for q in probs]
        if case["sampler"] == "mirostat_v2":
            p = case["params"]
            case["mu_after"] = [float(f"{p['mu'] - p['eta'] * (-math.log2(q) - p['tau']):.9g}") for q in probs]
        cases.append(case)
    print('{"tolerance": 1e-05, "cases": [')
    print(",\n".join(json.dumps(c) for c in cases))
    print("]}")


if __name__ == "__main__":
    main()
