//! Random charts about questions that are put again where their options lead, in one region or in several.

use super::random::Random;
use std::fmt::Write;

const LEAVES: usize = 4;

/// A question with this number, or nothing.
fn ask(random: &mut Random, number: usize, one_in: usize) -> String {
    if random.below(one_in) > 0 {
        return String::new();
    }
    let retry = random.below(2);
    let always = *random.pick(&["", " always"]);
    let guard = *random.pick(&["", "", " if x"]);
    format!(
        "ask q{number} on turn{always} else stay{guard} {{ prompt \"{{options}}\" retry {retry} }}"
    )
}

/// A state with leaves that options, steps and events lead to and from.
fn region(random: &mut Random, name: &str, number: usize, out: &mut String) {
    let _ = writeln!(out, "  state {name} {{ initial l0 {}", ask(random, number, 2));
    for leaf in 0..LEAVES {
        let _ = write!(out, "    state l{leaf} {{ {}", ask(random, number + leaf + 1, 5));
        for option in 0..random.below(3) {
            let to = random.below(LEAVES);
            let _ = write!(out, " may {name}_{leaf}_{option} \"{option}\" -> {name}.l{to}");
        }
        if random.below(4) == 0 {
            let to = random.below(LEAVES);
            let _ = write!(
                out,
                " llm {name}_{leaf} {{ prompt \"p\" retry 0 then skip }} -> {name}.l{to}"
            );
        }
        if random.below(6) == 0 {
            let _ = write!(out, " on a -> {name}.l{}", random.below(LEAVES));
        }
        out.push_str(" }\n");
    }
    out.push_str("  }\n");
}

/// The text of a chart with what [`super::random::chart`] declares, and `calls N per turn` with N of 0 to 3.
pub(super) fn chart(random: &mut Random) -> String {
    let calls = random.below(4);
    let mut out = format!(
        "chart T {{\n  event a  event b  event c\n  input x: Bool = false\n  input y: Bool = false\n  \
         input n: Int = 0\n  fn hot() -> Bool\n  limits {{ calls {calls} per turn }}\n  initial r\n  {}\n",
        ask(random, 90, 4)
    );
    if random.below(2) == 0 {
        region(random, "r", 10, &mut out);
    } else {
        let _ = writeln!(out, "  parallel r {{ {}", ask(random, 80, 2));
        let (mut one, mut two) = (String::new(), String::new());
        region(random, "r1", 10, &mut one);
        region(random, "r2", 20, &mut two);
        out += &(one + &two).replace("-> r", "-> r.r");
        out.push_str("  }\n");
    }
    out + "}\n"
}
