"""Writes expressions.jsonl: [expression, repr of what CPython 3.11 makes of it; null is an error].

An expression is a list: its operator, then its parts. Evaluated node by node, so that an Int beyond 64 bits is an error
wherever it appears. What the language refuses on purpose is an error here too: `and`, `or`, `not` and conditions of anything
but Bool, `%` of a text. `unique` is the list of distinct elements.
"""
import json
import random

R = random.Random(31)
WORDS = ["", "a", "b", "hello", "It's", "Grüße", "12", " -7 ", "3.5", "1_000", "1e3", "nan", "ß", "\n", '"q"']
KEYS = ["a", "b", "hello"]
INTS = [0, 1, 2, 3, -1, -2, 5, 7, 10, 100, 2**62, -(2**63), 2**63 - 1]
FLOATS = [0.0, -0.0, 0.5, 1.0, -1.5, 2.5, 3.7, 1e16, 769230769230769.25, 1e-7, 123456.789, float("inf"), -float("inf")]
KINDS = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict}


class Refused(Exception):
    pass


def boolean(x):
    if not isinstance(x, bool):
        raise Refused
    return x


def number(x):
    if isinstance(x, int) and not -(2**63) <= x < 2**63 or isinstance(x, complex):
        raise Refused
    return x


def binary(op, a, b):
    if op == "%" and isinstance(a, str):
        raise Refused
    if op == "*" and any(isinstance(x, int) and x > 1000 for x in (a, b)) and any(isinstance(x, (str, list)) for x in (a, b)):
        raise Refused
    if op == "**" and isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b > 64:
        raise Refused
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b, "//": lambda: a // b,
            "%": lambda: a % b, "**": lambda: a**b}[op]()


def compare(op, a, b):
    if op in ("in", "not in") and isinstance(b, dict) and isinstance(a, (list, dict)):
        raise Refused
    return {"<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b, ">=": lambda: a >= b, "==": lambda: a == b,
            "!=": lambda: a != b, "in": lambda: a in b, "not in": lambda: a not in b}[op]()


BUILTINS = {
    "len": len, "min": min, "max": max, "abs": abs, "round": round, "sum": sum, "any": any, "all": all, "sort": sorted,
    "lower": str.lower, "upper": str.upper, "concat": lambda *xs: "".join(map(str, xs)), "starts_with": str.startswith,
    "str": str, "float": float, "int": int, "bool": bool, "unique": lambda xs=(): list(dict.fromkeys(xs)),
    "join": lambda xs, separator: separator.join(map(str, xs)), "split": str.split, "replace": str.replace,
    "get": dict.get, "is_a": lambda x, name: isinstance(x, KINDS[name]),
}


def run(e, scope=()):
    kind, *parts = e
    sub = lambda x: run(x, scope)
    if kind in ("int", "text", "bool"):
        return parts[0]
    if kind == "float":
        return float(parts[0])
    if kind == "none":
        return None
    if kind == "local":
        return scope[parts[0]]
    if kind == "not":
        return not boolean(sub(parts[0]))
    if kind == "negate":
        return number(-sub(parts[0]))
    if kind == "and":
        return boolean(sub(parts[0])) and boolean(sub(parts[1]))
    if kind == "or":
        return boolean(sub(parts[0])) or boolean(sub(parts[1]))
    if kind == "binary":
        return number(binary(parts[0], sub(parts[1]), sub(parts[2])))
    if kind == "compare":
        left = sub(parts[0])
        for op, right in parts[1]:
            right = sub(right)
            if not compare(op, left, right):
                return False
            left = right
        return True
    if kind == "if":
        return sub(parts[1]) if boolean(sub(parts[0])) else sub(parts[2])
    if kind == "default":
        value = sub(parts[0])
        return sub(parts[1]) if value is None else value
    if kind == "list":
        return [sub(x) for x in parts[0]]
    if kind == "map":
        return {k: sub(v) for k, v in parts[0]}
    if kind == "index":
        return sub(parts[0])[sub(parts[1])]
    if kind == "slice":
        whole, a, b = sub(parts[0]), parts[1] and sub(parts[1]), parts[2] and sub(parts[2])
        return whole[a:b]
    if kind == "for":
        item, source, test, _ = parts
        out = []
        for x in sub(source):
            inner = (*scope, x)
            if test is None or boolean(run(test, inner)):
                out.append(run(item, inner))
        return out
    if kind == "format":
        return format(sub(parts[0]), parts[1])
    if kind == "call":
        args = [sub(x) for x in parts[1]]
        if parts[0] == "round" and len(args) > 1 and isinstance(args[1], int) and abs(args[1]) > 400:
            raise Refused
        # No `maxsplit` and no `count`; white space is what `split` takes without a separator, not with `None`.
        if parts[0] == "split" and (len(args) > 2 or None in args) or parts[0] == "replace" and len(args) > 3:
            raise Refused
        if parts[0] == "sort" and any(x != x for x in args[0]):
            raise Refused
        return number(BUILTINS[parts[0]](*args))
    raise AssertionError(kind)


def literal(depth):
    k = R.random()
    if k < 0.35:
        return ["int", R.choice(INTS) if R.random() < 0.3 else R.randint(-9, 20)]
    if k < 0.5:
        return ["float", repr(R.choice(FLOATS) if R.random() < 0.5 else round(R.uniform(-50, 50), R.randint(0, 3)))]
    if k < 0.7:
        return ["text", R.choice(WORDS)]
    if k < 0.8:
        return ["bool", R.random() < 0.5]
    if k < 0.84:
        return ["none"]
    if k < 0.95 or depth == 0:
        one = R.choice([lambda: ["int", R.randint(-9, 9)], lambda: ["text", R.choice(WORDS)], lambda: ["float", str(R.randint(-9, 9) / 2)]])
        return ["list", [one() if R.random() < 0.9 else literal(0) for _ in range(R.randint(0, 5))]]
    return ["map", [[k, literal(0)] for k in R.sample(KEYS, R.randint(0, 3))]]


def of(wanted, depth, locals_):
    """An expression that is likely to be of the wanted kind."""
    for _ in range(30):
        e = expression(depth, locals_)
        try:
            value = run(e, (1, "a", [1])[:locals_])
        except Exception:
            continue
        if isinstance(value, wanted) and not (isinstance(value, bool) and wanted is not bool):
            return e
    return {bool: ["bool", True], int: ["int", 2], str: ["text", "abc"], list: ["list", [["int", 1], ["int", 2]]],
            dict: ["map", [["a", ["int", 1]]]], (int, float): ["float", "1.5"]}[wanted]


NUMBER = (int, float)


def call(depth, n):
    name = R.choice(list(BUILTINS))
    anything = lambda: expression(depth, n)
    if R.random() < 0.12:
        arguments = [anything() for _ in range(R.randint(0, 3))]
        if name == "is_a":
            name = "len"
    elif name in ("min", "max"):
        arguments = [of(list, depth, n)] if R.random() < 0.4 else [of(NUMBER, depth, n) for _ in range(R.randint(2, 3))]
    elif name == "abs":
        arguments = [of(NUMBER, depth, n)]
    elif name == "round":
        arguments = [of(NUMBER, depth, n)] + ([["int", R.randint(-3, 5)]] if R.random() < 0.6 else [])
    elif name in ("sum", "any", "all", "sort", "unique"):
        arguments = [of(R.choice([list, list, list, str, dict]), depth, n)]
    elif name in ("lower", "upper"):
        arguments = [of(str, depth, n)]
    elif name == "starts_with":
        arguments = [of(str, depth, n), of(str, depth, n)]
    elif name == "join":
        arguments = [of(list, depth, n), of(str, depth, n)]
    elif name == "split":
        arguments = [of(str, depth, n) for _ in range(R.randint(1, 2))]
    elif name == "replace":
        arguments = [of(str, depth, n) for _ in range(3)]
    elif name == "concat":
        arguments = [anything() for _ in range(R.randint(0, 3))]
    elif name == "get":
        arguments = [of(dict, depth, n), ["text", R.choice(KEYS)]] + ([anything()] if R.random() < 0.5 else [])
    elif name == "is_a":
        arguments = [anything(), ["text", R.choice(list(KINDS))]]
    elif name == "int" or name == "float":
        arguments = [of(R.choice([NUMBER, str]), depth, n)]
    elif name == "len":
        arguments = [of(R.choice([str, list, dict]), depth, n)]
    else:
        arguments = [anything()]
    return ["call", name, arguments]


def expression(depth, n=0):
    if n and R.random() < 0.25:
        return ["local", R.randrange(n)]
    if depth == 0 or R.random() < 0.15:
        return literal(depth)
    d = depth - 1
    k = R.random()
    if k < 0.22:
        op = R.choice(["+", "-", "*", "/", "//", "%", "**"])
        if R.random() < 0.1:
            return ["binary", op, expression(d, n), expression(d, n)]
        if op == "**":
            return ["binary", op, of(NUMBER, d, n), R.choice([["int", R.randint(-2, 5)], ["float", "0.5"]])]
        if R.random() < 0.2:
            wanted = R.choice([str, list])
            other = int if op == "*" else wanted
            return ["binary", op, of(wanted, d, n), of(other, d, n)]
        return ["binary", op, of(NUMBER, d, n), of(NUMBER, d, n)]
    if k < 0.36:
        ops = ["<", "<=", ">", ">=", "==", "!="]
        wanted = R.choice([NUMBER, NUMBER, str, list])
        if R.random() < 0.3:
            whole = R.choice([list, str, dict])
            item = of(str, d, n) if whole is not list else expression(d, n)
            return ["compare", item, [[R.choice(["in", "not in"]), of(whole, d, n)]]]
        one = lambda: of(wanted, d, n) if R.random() < 0.9 else expression(d, n)
        return ["compare", one(), [[R.choice(ops), one()] for _ in range(R.choice([1, 1, 2]))]]
    if k < 0.44:
        return [R.choice(["and", "or"]), of(bool, d, n), of(bool, d, n)]
    if k < 0.48:
        return ["not", of(bool, d, n)] if R.random() < 0.6 else ["negate", of(NUMBER, d, n)]
    if k < 0.53:
        return ["if", of(bool, d, n), expression(d, n), expression(d, n)]
    if k < 0.56:
        return ["default", R.choice([["none"], expression(d, n)]), expression(d, n)]
    if k < 0.6:
        return ["list", [expression(d, n) for _ in range(R.randint(0, 3))]]
    if k < 0.63:
        return ["map", [[key, expression(d, n)] for key in R.sample(KEYS, R.randint(1, 3))]]
    if k < 0.68:
        return ["index", of(R.choice([list, list, str]), d, n), ["int", R.randint(-4, 4)]]
    if k < 0.7:
        return ["index", of(dict, d, n), ["text", R.choice(KEYS)]]
    if k < 0.75:
        bound = lambda: None if R.random() < 0.3 else ["int", R.randint(-5, 6)]
        return ["slice", of(R.choice([list, str]), d, n), bound(), bound()]
    if k < 0.81 and n < 3:
        test = of(bool, d, n + 1) if R.random() < 0.5 else None
        return ["for", expression(d, n + 1), of(R.choice([list, list, str, dict]), d, n), test, n]
    if k < 0.84:
        spec = R.choice(["", ".2f", "d", ">8", "+.1%", ",", "05", ".3", "x"])
        return ["format", expression(d, n), spec]
    return call(d, n)


rows, seen, errors = [], set(), 0
while len(rows) < 2400:
    e = expression(R.choice([1, 2, 2, 3]))
    try:
        result = repr(run(e))
        result.encode()
    except (Refused, TypeError, ValueError, ZeroDivisionError, OverflowError, KeyError, IndexError, AttributeError, UnicodeError):
        result = None
        errors += 1
        if errors > 400:
            continue
    if result is not None and len(result) > 120:
        continue
    row = json.dumps([e, result], ensure_ascii=False, separators=(",", ":"))
    if len(row) < 160 and row not in seen:
        seen.add(row)
        rows.append(row)
with open("expressions.jsonl", "w") as out:
    out.write("\n".join(rows) + "\n")
