//! How much code there is, by part, and how long functions are. The bounds may only shrink: whoever removes code lowers them, and only the
//! note of an issue raises one.

use crate::imports::own_files;
use test_support::project::read;

/// Lines of code of each part at most, without comments, blank lines and tests.
const PARTS: &[(&str, usize)] = &[
    ("src/compiler", 67739),
    ("src", 26571),
    ("runtime/core/src", 22078),
    ("runtime/src", 15439),
    ("runtime/store/src", 3255),
    ("runtime/world/src", 10082),
    ("runtime/adapters/src", 8598),
];

/// Files at most.
const FILES: usize = 472;
/// A function has at most so many lines of code, with few exceptions: [`LONG`] of them, and none is longer than [`LONGEST`].
const FUNCTION: usize = 60;
const LONG: usize = 40;
const LONGEST: usize = 125;

fn is_product(file: &str) -> bool {
    !file.ends_with("/tests.rs") && !file.contains("/tests/")
}

/// The lines that have code in them, without tests: for each the text, and its number from 0.
fn code(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let has_code = lines_with_code(text);
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        // rustfmt puts the end of a module at the margin.
        if lines[at] == "#[cfg(test)]"
            && lines.get(at + 1).is_some_and(|line| line.starts_with("mod "))
        {
            let inside = lines[at + 1].ends_with('{');
            at += 2;
            while inside && at < lines.len() && lines[at] != "}" {
                at += 1;
            }
            at += usize::from(inside);
            continue;
        }
        if has_code[at] {
            out.push((at, lines[at]));
        }
        at += 1;
    }
    out
}

/// For each line, whether anything but comments and blanks stands in it.
fn lines_with_code(text: &str) -> Vec<bool> {
    let mut found = vec![false; text.lines().count() + 1];
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 0);
    let mut ends: Option<String> = None;
    while at < bytes.len() {
        if bytes[at] == b'\n' {
            line += 1;
            at += 1;
        } else if let Some(end) = &ends {
            found[line] = true;
            if text[at..].starts_with(end.as_str()) {
                at += end.len();
                ends = None;
            } else if end == "\"" && bytes[at] == b'\\' {
                at += if bytes.get(at + 1) == Some(&b'\n') { 1 } else { 2 };
            } else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        } else if text[at..].starts_with("//") {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
        } else if let Some(hashes) = raw(&text[at..]) {
            found[line] = true;
            ends = Some(format!("\"{}", "#".repeat(hashes)));
            at += hashes + 2;
        } else if bytes[at] == b'"' {
            found[line] = true;
            ends = Some("\"".to_owned());
            at += 1;
        } else if bytes[at] == b'\'' {
            found[line] = true;
            at += character(&text[at..]);
        } else {
            found[line] |= !bytes[at].is_ascii_whitespace();
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The number of `#` with which a raw string begins here.
fn raw(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('r')?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes)
}

/// The length of a character, `'"'`, or of the mark of a lifetime.
fn character(text: &str) -> usize {
    let mut inside = text[1..].char_indices();
    match (inside.next(), inside.next()) {
        (Some((_, '\\')), Some(_)) => text[3..].find('\'').map_or(1, |end| end + 4),
        (Some(_), Some((at, '\''))) => at + 2,
        _ => 1,
    }
}

/// Where each function begins, its name, and how many lines of code it has.
fn functions(lines: &[(usize, &str)]) -> Vec<(usize, String, usize)> {
    let begins = |line: &str| {
        let words = line.trim_start();
        let (before, after) = words.split_once("fn ")?;
        let is_head = before.split_whitespace().all(|word| {
            word.starts_with("pub")
                || ["const", "async", "unsafe", "extern"].contains(&word)
                || word.ends_with(')')
        });
        let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (is_head && !name.is_empty()).then_some(name)
    };
    let mut out = Vec::new();
    for (nth, (at, line)) in lines.iter().enumerate() {
        let Some(name) = begins(line) else { continue };
        let margin = &line[..line.len() - line.trim_start().len()];
        let end = format!("{margin}}}");
        let is_end = |line: &str| {
            line == end
                || line.starts_with(margin)
                    && line.ends_with(';')
                    && !line[margin.len()..].starts_with(' ')
        };
        let Some(length) = lines[nth..].iter().position(|(_, line)| is_end(line)) else { continue };
        if lines[nth + length].1 == end {
            out.push((*at, name, length + 1));
        }
    }
    out
}

#[test]
fn parts_have_no_more_code_than_they_may() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (part, most) in PARTS {
        let mut lines = 0;
        for file in own_files(part).iter().filter(|file| is_product(file)) {
            lines += code(&read(file)).len();
            count += 1;
        }
        if lines > *most || lines + most / 100 < *most {
            wrong.push(format!("    (\"{part}\", {lines}),"));
        }
    }
    assert!(wrong.is_empty(), "the bounds of these parts are not tight:\n{}", wrong.join("\n"));
    assert!(
        count <= FILES && count + FILES / 50 > FILES,
        "there are {count} files, and the bound is {FILES}"
    );
}

#[test]
fn functions_are_no_longer_than_they_may_be() {
    let mut long = Vec::new();
    for (part, _) in PARTS {
        for file in own_files(part).iter().filter(|file| is_product(file)) {
            let text = read(file);
            let all = functions(&code(&text)).into_iter().filter(|(_, _, lines)| *lines > FUNCTION);
            long.extend(all.map(|(at, name, lines)| (lines, format!("{file}:{} {name}", at + 1))));
        }
    }
    long.sort();
    let longest = long.last().map_or(0, |(lines, _)| *lines);
    assert!(
        long.len() == LONG && longest == LONGEST,
        "{} functions have more than {FUNCTION} lines, the longest {longest}: {long:#?}",
        long.len()
    );
}

#[test]
fn lines_are_counted_as_they_are() {
    let text = "//! About.\n\nfn a() -> &'static str {\n    // Why.\n    let q = '\"'; // behind\n    r#\"// text\n\n\"#\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
    let lines: Vec<usize> = code(text).iter().map(|(at, _)| *at).collect();
    assert_eq!(lines, [2, 4, 5, 7, 8]);
    assert_eq!(functions(&code(text)), [(2, "a".to_owned(), 5)]);
}
