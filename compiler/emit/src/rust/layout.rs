//! Lays out generated code: parses and formats it, and adds the empty lines and comments that the formatter does not keep.

use chartc_core::visible;

/// Indents code by one level. No literal spans lines, so none changes.
pub(super) fn indented(code: &str) -> String {
    let deeper =
        |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    code.lines().map(deeper).collect()
}

/// Parses and formats items. They contain no hidden characters: literals contain their escapes, and comments may contain any. Code that
/// does not parse is a bug of the emitter.
pub(super) fn formatted(code: &str) -> String {
    match syn::parse_file(&visible::text(code)) {
        Ok(file) => visible::text(&spaced(&packed(&prettyplease::unparse(&file)))).into_owned(),
        Err(why) => unreachable!("generated code does not parse: {why}\n{code}"),
    }
}

/// Packs as many elements of a table as fit into each line; the formatter does so for numbers only.
fn packed(code: &str) -> String {
    const WIDTH: usize = 90;
    let is_element = |line: &str| {
        let line = line.trim_start();
        line.ends_with(',')
            && line.starts_with(|c: char| c.is_ascii_alphabetic())
            && line.chars().all(|c| c.is_ascii_alphanumeric() || "_:(),".contains(c))
    };
    let (mut out, mut open) = (String::new(), String::new());
    let mut in_table = false;
    for line in code.lines() {
        let element = in_table && is_element(line);
        if element && !open.is_empty() && open.len() + line.trim_start().len() < WIDTH {
            open.push(' ');
            open.push_str(line.trim_start());
            continue;
        }
        if !open.is_empty() {
            out.push_str(&open);
            out.push('\n');
            open.clear();
        }
        if element {
            open.push_str(line);
            continue;
        }
        let start = line.trim_start();
        in_table =
            (in_table && start != "];") || (start.starts_with("static ") && line.ends_with('['));
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Adds an empty line between items and between methods; the formatter adds none.
fn spaced(code: &str) -> String {
    let mut out = String::new();
    let mut before = "";
    for line in code.lines() {
        let indent = line.len() - line.trim_start().len();
        let same = before.len() - before.trim_start().len() == indent;
        let ends = before.ends_with(['}', ';']) && !before.trim_start().starts_with("use ");
        let begins = !line.trim_start().starts_with(['}', ')', ']'])
            && (!line.trim_start().starts_with("type ")
                || !before.trim_start().starts_with("type "));
        let import = before.starts_with("use ") && !line.starts_with("use ");
        // Deeper lines belong to bodies and tables.
        if (indent == 0 && import) || (indent <= 4 && same && ends && begins && is_item(line)) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = line;
    }
    out
}

/// Whether an item, a method, or its attributes or comments begin here. Statements and rows of tables do not count.
fn is_item(line: &str) -> bool {
    let words =
        ["///", "#[", "pub ", "fn ", "impl", "const ", "static ", "struct ", "enum ", "trait "];
    let line = line.trim_start();
    words.iter().any(|word| line.starts_with(word))
}
