"""Writes format.jsonl: [value, spec, what CPython 3.11's format() makes of it; null is an error]. Floats that JSON lacks are {"float": name}."""
import json
import random

R = random.Random(11)
INTS = [0, 1, -1, 7, 42, -42, 255, 999, 1000, -1000, 1234567, -9876543210, 2**53 + 1, 2**63 - 1, -(2**63), 65, 0x1F600]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 0.1, 1 / 3, -2 / 3, 100.0, 1234.5678, -1234567.891, 1e15, 1e16, 1e17,
          123456789012345680.0, 1e22, 1e-4, 1e-5, 0.00012345, 1.5e300, 5e-324, 1.7976931348623157e308, 999999.5, 0.125,
          99.995, 0.0004, -0.0004, 9.5, 0.95, 769230769230769.25, -5e-324, float("inf"), -float("inf"), float("nan")]
TEXTS = ["", "a", "hello", "grüße", "日本語", "it's", "a longer text with spaces"]
OTHERS = [None, True, False, [], [1, "two", 3.0], {"a": 1}]


def spec():
    s = ""
    k = R.random()
    if k < 0.15:
        s += R.choice("*_0 é{") + R.choice("<>=^")
    elif k < 0.35:
        s += R.choice("<>=^")
    if R.random() < 0.3:
        s += R.choice("+- ")
    if R.random() < 0.05:
        s += "z"
    if R.random() < 0.12:
        s += "#"
    if R.random() < 0.2:
        s += "0"
    if R.random() < 0.5:
        s += str(R.choice([1, 2, 5, 8, 10, 13, 20]))
    if R.random() < 0.25:
        s += R.choice([",", "_", ",", "_", ",_", ",,"])
    if R.random() < 0.4:
        s += "." + R.choice(["0", "1", "2", "3", "6", "10", "20", ""])
    if R.random() < 0.8:
        s += R.choice("dbcoxXneEfFgG%sq" if R.random() < 0.5 else "dfeg%s")
    return s


def value():
    k = R.random()
    if k < 0.35:
        return R.choice(INTS) if R.random() < 0.7 else R.randint(-(10 ** R.randint(1, 18)), 10 ** R.randint(1, 18))
    if k < 0.8:
        return R.choice(FLOATS) if R.random() < 0.6 else R.uniform(-1, 1) * 10.0 ** R.randint(-8, 20)
    if k < 0.95:
        return R.choice(TEXTS)
    return R.choice(OTHERS)


def wire(v):
    if isinstance(v, float) and (v != v or abs(v) == float("inf")):
        return {"float": str(v)}
    return v


def row(v, s):
    try:
        r = format(v, s)
    except (ValueError, TypeError, OverflowError):
        r = None
    if r is not None:
        try:
            r.encode()
        except UnicodeEncodeError:
            r = None
    return json.dumps([wire(v), s, r], ensure_ascii=False, separators=(",", ":"))


rows = [row(v, s) for v in INTS + FLOATS + TEXTS + OTHERS for s in ["", ".0f", "+.0f", ",", ".0%", ".2f", "d", "s", "10", "<10", "012,.1f", ".3g", "x"]]
seen = set(rows)
while len(rows) < 5000:
    r = row(value(), spec())
    if r not in seen and not (r.endswith("null]") and R.random() < 0.7):
        seen.add(r)
        rows.append(r)
with open("format.jsonl", "w") as out:
    out.write("\n".join(rows) + "\n")
