//! Conditions of random charts.

use super::render::Writer;

/// One of these.
pub(super) fn pick<'v>(from: &[&'v str], nth: u8) -> &'v str {
    from[usize::from(nth) % from.len()]
}

/// What a line calls the data that come with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Nothing,
    /// `n`, an Int.
    Number,
    /// `g`, a Level, and `hard`, a Bool.
    Level,
    /// `u`, a Text, and `k`, an Int that may be missing.
    Word,
    /// `q`, anything.
    Open,
    /// `all`, a list of records.
    Batch,
    /// `ans`, what a step gave.
    Answer(Returns),
}

/// Types that steps return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Returns {
    Open,
    Int,
    Text,
    List,
    Enum,
    Bool,
    Record,
}

const ALWAYS: &[&str] = &[
    "x",
    "not x",
    "y > 3",
    "y <= 3",
    "m < 2",
    "m >= 2 and x",
    "p",
    "big or m == 1",
    "hot()",
    "many(m) > step",
    "false",
    "turns > 1",
    "4 div m > 1",
    "f < 2.0",
    "v == 0",
    "w > m",
    "mode == Mode.dim",
    "level.warm",
    "last == none",
    "last != none and last.size > m",
    "bright(level, mode)",
    "0 <= m < 4",
    "m % 2 == 0",
    "event == \"a\"",
];

/// Those that read what a machine remembers beside its data.
const REMEMBERED: &[&str] =
    &["turns_here >= 1", "elapsed_here > 2s", "elapsed < pause * 3", "here"];

const WORDS: &[&str] = &[
    "t == \"\"",
    "len(t) < 3",
    "t in [\"a\", \"ab\", \"b\"]",
    "e == E.two",
    "o == none",
    "o != none and o > 1",
    "sum(l) > 2",
    "bool(j)",
    "spell(t, o) == \"a\"",
    "int(t) > 1",
    "counts[\"a\"] > 1",
    "\"a\" in counts",
    "kept.n < m",
    "pick([kept]).n > 2",
    "l[0] == m",
    "any([i > 1 for i in l])",
    "starts_with(said, \"1\")",
    "join(l, \"-\") == replace(t, \"a\", \"-\")",
    "len(split(said, \"i\")) > m",
    "split(t) == unique(split(t))",
    "l == sort(unique(l))",
    "len([i * k for i in l if i > 1 for k in l if k < i]) > 2",
];

const AGENT: &[&str] = &[
    "fails_here > 0",
    "last_result == \"\"",
    "last_failed",
    "streak(tool) >= 2",
    "streak(found.q) >= 2",
    "health == \"STUCK\"",
    "advice != \"\"",
    "calls > 2 and calls_here > 0",
    "tokens > 500",
    "tokens_here > 150",
    "cost > 0.5",
    "cost_here > 0.1 and cost < 2.0",
];

impl Bound {
    /// Conditions over the names.
    fn guards(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &["x"],
            Self::Number => &["n > m", "n % 2 == 0", "1 <= n < 6", "n == y or x", "many(n) > n"],
            Self::Level => {
                &["hard", "g.size > m", "g.warm and not hard", "bright(g, mode)", "g == level"]
            }
            Self::Word => &[
                "len(u) > 1",
                "k != none and k > m",
                "u in t",
                "k == none",
                "u in counts",
                "k in l",
            ],
            Self::Open => &["bool(q)", "is_a(q, \"int\")", "q == 3", "q > m", "q == j"],
            Self::Batch => &["len(all) > 1", "all[0].n > m", "kept in all", "pick(all).by == t"],
            Self::Answer(returns) => match returns {
                Returns::Open => &["bool(ans)", "ans == j"],
                Returns::Int => &["ans > m", "ans % 2 == 0"],
                Returns::Text => &["len(ans) > 2", "ans == t"],
                Returns::List => &["len(ans) > 1", "ans[0] > m"],
                Returns::Enum => &["ans == E.two", "ans == e"],
                Returns::Bool => &["ans", "not ans"],
                Returns::Record => &["ans.n > 2", "ans == kept"],
            },
        }
    }
}

impl Writer<'_> {
    /// A condition, or none.
    pub(super) fn guard(&self, nth: u8, bound: Bound) -> String {
        if nth < 104 {
            return String::new();
        }
        if bound != Bound::Nothing && nth % 4 != 3 {
            return pick(bound.guards(), nth / 4).to_owned();
        }
        if nth >= 228 {
            let word = if nth.is_multiple_of(2) { "in" } else { "not in" };
            return format!("{word}({})", self.place(nth >> 1));
        }
        if !self.spec.taste.plain && nth % 32 == 9 {
            return format!("turns_in({}) > 1", self.place(nth >> 2));
        }
        let of = if self.agent && nth % 7 == 2 {
            AGENT
        } else if self.spec.taste.words && nth % 3 == 1 {
            WORDS
        } else if !self.spec.taste.plain && nth.is_multiple_of(5) {
            REMEMBERED
        } else {
            ALWAYS
        };
        pick(of, nth.wrapping_mul(73) / 3).to_owned()
    }

    /// As [`Self::guard`], behind `if`.
    pub(super) fn guarded(&self, nth: u8, bound: Bound) -> String {
        let guard = self.guard(nth, bound);
        if guard.is_empty() { guard } else { format!(" if {guard}") }
    }
}
