//! Actions of random charts.

use super::guards::{Bound, Returns, pick};
use super::render::Writer;
use std::slice::Iter;

/// The action after which most conditions no longer hold.
pub(super) const RESET: u8 = 255;

/// Where actions stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    pub(super) bound: Bound,
    /// They raise and send nothing: what raises does not answer to what is raised, or most charts would go in circles.
    pub(super) quiet: bool,
}

impl Around {
    /// A block that knows no data.
    pub(super) const BLOCK: Self = Self { bound: Bound::Nothing, quiet: false };

    /// A line with data.
    pub(super) const fn of(bound: Bound) -> Self {
        Self { bound, quiet: false }
    }
}

const ALWAYS: &[&str] = &[
    "m = m + 1",
    "m = 0",
    "v = v + 1",
    "m = y",
    "tell(m)",
    "m = m * 3 - y",
    "f = f * 1.5",
    "m = 7 div m",
    "w = w + step",
    "mode = Mode.bright",
    "mode = Mode.dim",
    "level = Level { size: m  warm: x }",
    "last = level",
    "last = none",
    "show(last, mode)",
    "m = last.size ?? 0",
];

const RAISED: &[&str] = &["raise r", "raise r.two(m)", "raise b", "raise set(level, x)", "raise r"];

const SENT: &[&str] = &[
    "send a after 1s",
    "send c(m) after 2s as late",
    "send b after 500ms as soon",
    "cancel late",
    "cancel soon",
    "send r.two(y) after pause as late",
    "send d.one after pause * 2",
    "send set(level, x) after 2s as soon",
    "send b after 1s as soon",
    "cancel late",
    "send d",
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
    "t = spell(z, o)",
    "l = sort(l)",
    "l = [i + k for i in l[0:3] for k in [m, 1] if k < 1_000]",
    "said = join(l, \"{if x then \"a\" else t}\")[0:40]",
    "t = replace(said, \"1\", t)[0:9]",
    "l = [len(word) for word in split(said, \"i\")][0:9]",
    "j = j[0]",
    "counts = {\"a\": m, t: 2}",
    "m = counts[\"b\"]",
    "kept = Found { n: m  by: t }",
    "kept = pick([kept])",
    "said = \"{kept.by}{l}\"",
    "t = t[-1]",
    "j = [j, l]",
    "talk = talk[0:2] + [Message { role: Role.user  text: t }]",
    "log \"{talk} of {photo}\"",
];

impl Bound {
    /// Actions over the names; the second list raises or sends.
    fn actions(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Nothing => (&["m = m + 2"], &["raise r"]),
            Self::Number => (
                &["m = n", "m = m + n", "tell(n)", "if n > 3 { m = n } else { m = 1 }"],
                &["raise r.two(n)", "raise r.two(n + 1)"],
            ),
            Self::Level => (
                &["level = g", "m = g.size", "last = g", "show(g, mode)", "if hard { level = g }"],
                &["raise r.two(g.size)"],
            ),
            Self::Word => (
                &[
                    "t = u",
                    "o = k",
                    "if k != none { m = k } else { m = 0 }",
                    "l = l[0:9] + [k ?? 7]",
                    "counts = {u: m, \"b\": k ?? 1}",
                    "for i in [c for c in u] { t = i }",
                ],
                &["raise open(k)"],
            ),
            Self::Open => (
                &["j = q", "m = int(q)", "for i in q { j = i }", "t = str(q)", "j = [q]"],
                &["raise r"],
            ),
            Self::Batch => (
                &[
                    "kept = all[0]",
                    "for i in all { m = m + i.n  t = i.by }",
                    "l = [i.n for i in all]",
                ],
                &["for i in all { raise r.two(i.n) }"],
            ),
            Self::Answer(returns) => {
                let all: &[&str] = match returns {
                    Returns::Open => &["j = ans"],
                    Returns::Int => &["m = ans", "o = ans"],
                    Returns::Text => &["t = ans"],
                    Returns::List => &["l = ans", "for i in ans { m = m + i }"],
                    Returns::Enum => &["e = ans"],
                    Returns::Bool => &["if ans { m = 5 } else { m = 0 }"],
                    Returns::Record => &["kept = ans", "m = ans.n"],
                };
                (all, &["raise r"])
            }
        }
    }
}

impl Writer<'_> {
    /// What stands in the braces of a block.
    pub(super) fn actions(&self, actions: &[u8], around: Around) -> String {
        let mut rest = actions.iter();
        let mut out: Vec<String> = Vec::new();
        while let Some(one) = rest.next() {
            out.push(self.action(*one, &mut rest, around));
        }
        out.join("  ")
    }

    /// One action; an `if` or `for` takes what is in it from the rest.
    fn action(&self, nth: u8, rest: &mut Iter<'_, u8>, around: Around) -> String {
        if nth == RESET {
            return "m = 0  v = 0  f = 0.5".to_owned();
        }
        let taste = self.spec.taste;
        let (plain, loud) = around.bound.actions();
        let known = around.bound != Bound::Nothing;
        match nth % 16 {
            2 | 3 if known => pick(plain, nth / 16).to_owned(),
            4 if known && !around.quiet => pick(loud, nth / 16).to_owned(),
            5 | 6 if !around.quiet => pick(RAISED, nth / 16).to_owned(),
            7 | 8 if !taste.plain && !around.quiet => pick(SENT, nth / 16).to_owned(),
            9 if nth > 100 => {
                let guard = self.guard(nth.wrapping_mul(3) | 128, around.bound);
                let inner = self.next(rest, around);
                match nth / 16 % 4 {
                    0 => format!("if {guard} {{ {inner} }} else {{ m = m + 1 }}"),
                    1 => format!("if {guard} {{ m = m + 1 }} else if x {{ {inner} }}"),
                    2 => format!(
                        "if {guard} {{ {inner} }} else if m > 3 {{ m = 0 }} else {{ {} }}",
                        self.next(rest, around)
                    ),
                    _ => format!("if {guard} {{ {inner} }}"),
                }
            }
            10 if taste.words => {
                let of = pick(&["l", "l[0:3]", "[m, 2]", "[i for i in l if i > 1]"], nth / 16);
                let inner = self.next(rest, around);
                format!("for i in {of} {{ m = m + i  {inner} }}")
            }
            11..=15 if taste.words => pick(WORDS, nth.wrapping_mul(5) / 3).to_owned(),
            _ => pick(ALWAYS, nth / 16 * 3 + nth % 16).to_owned(),
        }
    }

    fn next(&self, rest: &mut Iter<'_, u8>, around: Around) -> String {
        let next = rest.next().copied().unwrap_or_default();
        self.action(next, rest, around)
    }
}
