//! Random charts about data: variables with the initial value `none`, set by some transitions and steps, and prompts that show them.

use super::random::Random;
use std::fmt::Write;

const GUARDS: &[&str] = &[
    "",
    "",
    "",
    " if x",
    " if not x",
    " if g",
    " if not g",
    " if p != none",
    " if p == none",
    " if q != none",
    " if m == \"u\"",
    " if m != \"u\"",
    " if g and p != none",
    " if x or g",
    " if in(s1)",
];

const ACTIONS: &[&str] = &[
    "",
    "",
    "",
    "",
    " { p = 1 }",
    " { q = 2 }",
    " { g = true }",
    " { g = false }",
    " { m = \"v\" }",
    " { p = none }",
    " { if x { p = 3 } }",
    " { if g { p = 1  q = 1 } else { q = none } }",
    " { m = \"u\"  p = m }",
    " { for i in [1] { q = i } }",
];

const CODE: &[&str] = &[
    "p = 1",
    "if x { p = 1 }",
    "if g { q = 1 } else { q = 2 }",
    "g = x",
    "if x { q = 1 }",
    "g = p != none",
    "m = \"v\"",
    "if p == none { p = 4 }",
];

fn target(random: &mut Random, count: usize) -> String {
    match random.below(count + 2) {
        0 => "over".into(),
        n if n <= count => format!("s{}", n - 1),
        _ => "s1.t1".into(),
    }
}

fn line(random: &mut Random, count: usize) -> String {
    let actions = random.pick(ACTIONS);
    let guard = random.pick(GUARDS);
    let goal =
        if random.below(4) == 0 { String::new() } else { format!(" -> {}", target(random, count)) };
    match random.below(9) {
        0..=2 => format!("on a{guard}{goal}{actions}"),
        3 => format!("on b(f){}{goal}{actions}", random.pick(&["", " if f", " if not f and g"])),
        4 => format!("on b(f){goal} {{ g = f }}"),
        5 => format!("on turn{guard}{goal}{actions}"),
        6 => {
            let when = random.pick(&[
                "p != none and g",
                "g and m == \"v\"",
                "x and q != none",
                "m == \"v\"",
            ]);
            format!("when {when} -> {}", target(random, count))
        }
        7 => format!("after 3s{guard}{goal}{actions}"),
        _ => format!("on a{guard}{goal}{actions}"),
    }
}

fn step(random: &mut Random, count: usize, number: &mut usize, made: &mut Vec<usize>) -> String {
    let nth = *number;
    *number += 1;
    let guard = random.pick(GUARDS);
    if random.below(3) == 0 {
        let then = if random.below(3) == 0 {
            format!(" -> {}", target(random, count))
        } else {
            String::new()
        };
        return format!("code k{nth}{guard} {{ {} }}{then}", random.pick(CODE));
    }
    let earlier: Option<usize> = made.last().copied();
    let answer = earlier.map_or_else(String::new, |n| format!(" {{l{n}}}"));
    let show = random.pick(&[
        "{p}",
        "{q}",
        "{p} {q}",
        "{if p != none then str(p) else \"-\"} {q}",
        "hello",
    ]);
    let keep = random.pick(&["", "", " returns Json into p", " returns Json into q"]);
    let fail = random.pick(&[
        " retry 0 then skip",
        " retry 0 then fail",
        " retry 0 then skip error -> s0",
    ]);
    let ends = random.pick(&["", "", "", " ends turn if g"]);
    let then =
        if random.below(2) == 0 { format!(" -> {}", target(random, count)) } else { String::new() };
    made.push(nth);
    let name = format!("l{nth}");
    format!("llm {name}{guard} {{ prompt \"\"\"{show}{answer}\"\"\"{keep}{fail}{ends} }}{then}")
}

/// The text of a chart with the events `a b`, the input `x` and the variables `p q g m`.
pub(super) fn chart(random: &mut Random) -> String {
    let count = 3;
    let (mut number, mut made) = (0, Vec::new());
    let mut out = String::from(
        "chart T {\n  event a  event b(f: Bool)\n  input x: Bool = false\n  var p: Json = none\n",
    );
    let fresh = random.pick(&["", " per turn"]);
    let _ =
        writeln!(out, "  var q: Json = none{fresh}\n  var g: Bool = false\n  var m: Text = \"u\"");
    if random.below(2) == 0 {
        let _ = writeln!(out, "  limits {{ calls {} per turn }}", random.below(3));
    }
    let mut body = String::new();
    if random.below(2) == 0 {
        let guard = random.pick(GUARDS);
        let _ = writeln!(body, "  code c{guard} {{ {} }}", random.pick(CODE));
    }
    if random.below(4) == 0 {
        let _ = writeln!(
            body,
            "  from * {{ on a{} -> s0{} }}",
            random.pick(GUARDS),
            random.pick(ACTIONS)
        );
    }
    let _ = writeln!(body, "  initial s0");
    for nth in 0..count {
        let _ = writeln!(body, "  state s{nth} {{");
        if nth == 1 {
            let _ = writeln!(
                body,
                "    initial t0\n    state t0 {{ {} }}\n    state t1 {{ {} }}",
                line(random, count),
                line(random, count)
            );
        }
        if random.below(5) == 0 {
            let _ = writeln!(
                body,
                "    enter {}",
                random.pick(&["{ p = 1 }", "{ p = none }", "{ q = m }"])
            );
        }
        if random.below(6) == 0 {
            let _ = writeln!(body, "    exit {}", random.pick(&["{ p = none }", "{ g = not g }"]));
        }
        for _ in 0..random.below(3) {
            let _ = writeln!(body, "    {}", step(random, count, &mut number, &mut made));
        }
        for _ in 0..=random.below(2) {
            let _ = writeln!(body, "    {}", line(random, count));
        }
        let _ = writeln!(body, "  }}");
    }
    out + &body + "  final over\n}\n"
}
