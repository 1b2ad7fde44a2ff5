//! Cells that differ only in what they name: one piece of code for all of them, with the names in tables.

use std::fmt::Write;

/// What stands before a name that may differ, and after it.
const HOLES: &[(&str, &str, &str)] = &[
    ("direct::taken(sink, ", ")", "u32"),
    ("direct::refuted(sink, ", ")", "u32"),
    ("direct::faulted(sink, ", ")", "u32"),
    ("direct::elsewhere(sink, ", ")", "u32"),
    ("direct::exited(sink, ", ")", "u32"),
    ("direct::entered(sink, ", ")", "u32"),
    ("self.configuration = ", ";", "Configuration"),
];

/// The code cut where a name stands: the parts between, the names, their types.
fn cut(code: &str) -> (Vec<&str>, Vec<&str>, Vec<&'static str>) {
    let (mut parts, mut names, mut types) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = code;
    loop {
        let next = HOLES.iter().filter_map(|(head, tail, ty)| {
            let start = rest.find(head)? + head.len();
            let len = rest[start..].find(tail)?;
            Some((start, len, *ty))
        });
        let Some((start, len, ty)) = next.min_by_key(|(start, ..)| *start) else {
            parts.push(rest);
            return (parts, names, types);
        };
        parts.push(&rest[..start]);
        names.push(&rest[start..start + len]);
        types.push(ty);
        rest = &rest[start + len..];
    }
}

/// The numbers of cells that differ in names only, in groups; in the order of their first ones.
pub(super) fn groups(cells: &[String]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Vec<&str>, Vec<usize>)> = Vec::new();
    for (nth, code) in cells.iter().enumerate() {
        let (parts, ..) = cut(code);
        match groups.iter_mut().find(|(other, _)| *other == parts) {
            Some((_, members)) => members.push(nth),
            None => groups.push((parts, vec![nth])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// One piece of code for all cells, if they differ in names only. `cells` has the place of each in tables of `len` places,
/// where `at` gives the place of the present one.
pub(super) fn merged(cells: &[(usize, String)], len: usize, at: &str) -> Option<String> {
    let (_, first) = cells.first()?;
    let (parts, _, types) = cut(first);
    let all: Vec<_> = cells.iter().map(|(place, code)| (*place, cut(code))).collect();
    if all.iter().any(|(_, (other, ..))| *other != parts) {
        return None;
    }
    let mut tables = String::new();
    let mut out = String::new();
    for (i, ty) in types.iter().enumerate() {
        out.push_str(parts[i]);
        let name = |cell: usize| all[cell].1.1[i];
        if (0..all.len()).all(|cell| name(cell) == name(0)) {
            out.push_str(name(0));
            continue;
        }
        let mut column = vec![name(0); len];
        for (place, (_, names, _)) in &all {
            column[*place] = names[i];
        }
        let _ = writeln!(tables, "static T{i}: [{ty}; {len}] = [{}];", column.join(", "));
        let _ = write!(out, "T{i}[at]");
    }
    out.push_str(parts.last().copied().unwrap_or_default());
    let place = if tables.is_empty() { String::new() } else { format!("let at = {at};\n") };
    Some(format!("{tables}{place}{out}"))
}
