//! What the colours mean.

use super::style::Look;

/// A node with one line for each look.
pub(super) fn legend() -> String {
    let mut out = String::from(
        "  legend [shape=plain, style=\"\", label=<<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" color=\"#94a3b8\">",
    );
    for (look, text) in Look::ALL {
        let colour = look.colour();
        let arrow = if look.is_choice() { "◇─▶" } else { "──▶" };
        out.push_str(&format!(
            "<tr><td><font color=\"{colour}\">{arrow}</font></td><td align=\"left\"><font point-size=\"9\">{text}</font></td></tr>"
        ));
    }
    out.push_str("</table>>];\n");
    out
}
