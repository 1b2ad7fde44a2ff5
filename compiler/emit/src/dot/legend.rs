//! The legend, which explains the colours and signs.

use crate::picture::look::Look;

const SIGNS: [(&str, &str); 5] = [
    ("*", "any state around it"),
    ("┄┄▶", "from *, or not permitted"),
    ("H, H*", "history, deep history"),
    ("┌┄┐", "region of a parallel"),
    ("╔═╗", "final state"),
];

/// A node with one line for each look.
pub(super) fn legend() -> String {
    let mut out = String::from(
        "  legend [shape=plain, style=\"\", label=<<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" color=\"#94a3b8\">",
    );
    for (look, text) in Look::ALL {
        let colour = look.colour();
        let arrow = match look {
            Look::Choice => "◇─▶",
            Look::Otherwise => "◇┄▶",
            Look::Event | Look::When | Look::Clock | Look::Done | Look::Error => "──▶",
        };
        row(&mut out, colour, arrow, text);
    }
    for (sign, text) in SIGNS {
        row(&mut out, "black", sign, text);
    }
    out.push_str("</table>>];\n");
    out
}

fn row(out: &mut String, colour: &str, sign: &str, text: &str) {
    out.push_str(&format!(
        "<tr><td><font color=\"{colour}\" point-size=\"9\">{sign}</font></td><td align=\"left\"><font point-size=\"9\">{text}</font></td></tr>"
    ));
}
