//! Conditions and actions of random charts.

use super::render::Writer;

/// The action after which most conditions no longer hold.
pub(super) const RESET: u8 = 255;

/// One of these.
pub(super) fn pick<'v>(from: &[&'v str], nth: u8) -> &'v str {
    from[usize::from(nth) % from.len()]
}

impl Writer<'_> {
    /// A condition, or none.
    pub(super) fn guard(&self, nth: u8, payload: bool) -> String {
        const GUARDS: &[&str] = &[
            "",
            "",
            "",
            "",
            "",
            "",
            "x",
            "not x",
            "y > 3",
            "y <= 3",
            "m < 2",
            "m >= 2 and x",
            "p",
            "hot()",
            "many(m) > 2",
            "false",
            "turns > 1",
            "turns_here >= 1",
            "elapsed_here > 2s",
            "4 div m > 1",
            "f < 2.0",
            "v == 0",
        ];
        const WORDS: &[&str] = &[
            "t == \"\"",
            "len(t) < 3",
            "t in [\"a\", \"ab\", \"b\"]",
            "e == E.two",
            "o == none",
            "o != none and o > 1",
            "sum(l) > 2",
            "bool(j)",
            "fails_here > 0",
            "last_result == \"\"",
            "streak(tool) >= 2",
            "word(t, o) == \"a\"",
            "int(t) > 1",
            "health == \"STUCK\"",
        ];
        if nth < 112 {
            return String::new();
        }
        if payload && nth % 4 == 1 {
            return "n > m".to_owned();
        }
        if nth >= 224 {
            let word = if nth.is_multiple_of(2) { "in" } else { "not in" };
            return format!("{word}({})", self.place(nth >> 1));
        }
        if self.agent && nth % 3 == 2 { pick(WORDS, nth / 3) } else { pick(GUARDS, nth) }.to_owned()
    }

    /// What stands in the braces of a block.
    pub(super) fn actions(&self, actions: &[u8], payload: bool) -> String {
        const PLAIN: &[&str] = &[
            "m = m + 1",
            "m = 0",
            "raise r",
            "raise r.two(m)",
            "m = y",
            "v = v + 1",
            "tell(m)",
            "raise b",
            "m = m * 3 - y",
            "f = f * 1.5",
            "m = 7 div m",
        ];
        const WORDS: &[&str] = &[
            "t = t[0:9] + \"a\"",
            "l = l[0:9] + [m]",
            "log \"at {m}\"",
            "o = m",
            "o = none",
            "j = {\"k\": m}",
            "e = E.two",
            "t = \"{m}\"",
            "t = word(z, o)",
            "l = sorted(l)",
            "j = j[0]",
        ];
        let one = |nth: &u8| {
            let nth = *nth;
            if nth == RESET {
                "m = 0  v = 0  f = 0.5"
            } else if payload && nth % 5 == 1 {
                "m = n"
            } else if self.agent && nth % 2 == 1 {
                pick(WORDS, nth / 2)
            } else {
                pick(PLAIN, nth / 2)
            }
        };
        actions.iter().map(one).collect::<Vec<_>>().join("  ")
    }
}
