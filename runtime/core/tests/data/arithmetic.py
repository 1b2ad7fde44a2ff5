"""Writes arithmetic.txt: operations on doubles (their bits in hexadecimal) and 64-bit integers with what CPython 3.11 makes of them; E is an error."""
import random
import struct

R = random.Random(20)
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, float("inf"), -float("inf"), float("nan"), 5e-324,
           1.7976931348623157e308, 2.0**53, 2.0**63, -(2.0**63), 1e22, 2.5, 0.1, 1 / 3]
INTS = [0, 1, -1, 2, 10, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1]


def bits(x):
    return "nan" if x != x else "%016x" % struct.unpack(">Q", struct.pack(">d", x))[0]


def double():
    k = R.random()
    if k < 0.15:
        return R.choice(DOUBLES)
    if k < 0.3:
        return struct.unpack(">d", struct.pack(">Q", R.getrandbits(64)))[0]
    if k < 0.5:
        return float(R.randint(-20, 20))
    if k < 0.75:
        return round(R.uniform(-100, 100), R.randint(0, 3))
    return R.uniform(-1, 1) * 10.0 ** R.randint(-20, 20)


def integer():
    k = R.random()
    if k < 0.2:
        return R.choice(INTS)
    if k < 0.6:
        return R.randint(-100, 100)
    return R.randint(-(2 ** R.randint(1, 63)), 2 ** R.randint(1, 63) - 1)


def result(f):
    try:
        r = f()
    except (ZeroDivisionError, OverflowError, ValueError):
        return "E"
    if isinstance(r, complex):
        return "E"
    if isinstance(r, float):
        return bits(r)
    return str(r) if -(2**63) <= r < 2**63 else "E"


with open("arithmetic.txt", "w") as out:
    for _ in range(150):
        a, b, i, j = double(), double(), integer(), integer()
        e = R.choice([0, 1, 2, 3, 7, 20, 62, 63, 64, -1])
        d = R.choice([0, 1, 2, 3, -1, -2, 5, 17, 22, 324, -16, -20, -308, -309, R.randint(-330, 330)])
        order = "none" if a != a else "less" if i < a else "greater" if i > a else "equal"
        for row in [
            ("power_float", bits(a), bits(b), result(lambda: a**b)),
            ("modulo_float", bits(a), bits(b), result(lambda: a % b)),
            ("floor_div_float", bits(a), bits(b), result(lambda: a // b)),
            ("div", i, j, result(lambda: i / j)),
            ("floor_div", i, j, result(lambda: i // j)),
            ("modulo", i, j, result(lambda: i % j)),
            ("power", i, e, "E" if e < 0 else result(lambda: i**e)),
            ("round", bits(a), 0, result(lambda: round(a))),
            ("round_to", bits(a), d, result(lambda: round(a, d))),
            ("round_int", i, d, result(lambda: round(i, d))),
            ("compare", i, bits(a), order),
        ]:
            print(*row, file=out)
