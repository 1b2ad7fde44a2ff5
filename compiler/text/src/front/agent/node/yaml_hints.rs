//! Help for text that is not valid YAML. The library's message names a place and, in terms of YAML's grammar, what it did not expect
//! there. Authors make only a few kinds of mistakes, and the line shows which one it is.

/// Returns the help for an error at byte `at` of `text`, given the library's message; `None` if the mistake is not known.
pub(super) fn yaml_hint(text: &str, at: usize, said: &str) -> Option<String> {
    let spot = ErrorPosition::new(text, at);
    HINTS.iter().find(|(words, _)| said.contains(words)).and_then(|(_, of)| of(&spot))
}

/// A function that finds the help for one kind of error.
type Hint = fn(&ErrorPosition<'_>) -> Option<String>;

/// The hints, each with words that occur in the library's message. The first one that has an answer is used.
const HINTS: &[(&str, Hint)] = &[
    ("tabs", |_| Some("YAML is indented with blanks: replace the tabs".to_owned())),
    ("unexpected character", |s| s.unquoted_start()),
    ("misplaced bracket", |s| s.unquoted_start()),
    ("anchor or alias", |s| s.unquoted_start()),
    ("unknown anchor", |s| s.alias()),
    ("simple key expected", |s| s.key()),
    ("mapping values are not allowed", |s| s.second_colon()),
    ("did not find expected key", |s| s.indented()),
    ("did not find expected '-'", |s| {
        s.indented().or_else(|| Some("each line of this list begins with `- `".to_owned()))
    }),
    ("did not find expected <document start>", |s| s.indented()),
    ("multiple YAML documents", |_| {
        Some("an agent is one document: take the `---` away, or make it two files".to_owned())
    }),
    ("invalid indentation in multiline quoted", |s| s.open_quote()),
    ("unclosed quote", |s| s.open_quote()),
    ("trailing content after", |s| s.behind_quote()),
    ("escape", |_| Some(r"between double quotes `\` begins an escape: write `\\`".to_owned())),
    ("illegal placement of ':'", |s| s.open_bracket()),
    ("unclosed bracket", |s| s.open_bracket()),
    ("flow sequence", |s| s.open_bracket()),
    ("flow mapping", |s| s.open_bracket()),
    ("flow construct", |s| s.open_bracket()),
    ("block sequence entries", |_| {
        Some("a list begins in the line below its key, or is written `[a, b]`".to_owned())
    }),
    ("scanning a block scalar", |_| {
        Some("the text of `|` or `>` begins in the next line, indented".to_owned())
    }),
];

/// The position of an error, with its line.
struct ErrorPosition<'t> {
    text: &'t str,
    at: usize,
    /// The byte at which the line starts.
    start: usize,
    /// The text of the line.
    row: &'t str,
}

impl<'t> ErrorPosition<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        let at = at.min(text.len());
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let row = text[start..].lines().next().unwrap_or_default();
        Self { text, at, start, row }
    }

    /// The number of the line with this byte, from 1.
    fn line(&self, byte: usize) -> usize {
        self.text[..byte].matches('\n').count() + 1
    }

    /// The offset of the value in the line: behind its key or its `- `.
    fn value(&self) -> usize {
        let item = self.row.len() - self.row.trim_start_matches([' ', '-']).len();
        let behind = self.row.find(": ").map_or(item, |colon| colon + 2);
        let rest = &self.row[behind..];
        behind + rest.len() - rest.trim_start().len()
    }

    /// The value that starts at byte `from` of the line, in quotes and after a colon; empty if both kinds of quotes occur in it.
    fn quoted(&self, from: usize) -> String {
        let value = self.row[from..].split(" #").next().unwrap_or_default().trim_end();
        match (value.contains(['"', '\\']), value.contains('\'')) {
            (false, _) => format!(": `\"{value}\"`"),
            (true, false) => format!(": `'{value}'`"),
            (true, true) => String::new(),
        }
    }

    /// Help for text whose first character has a special meaning in YAML.
    fn unquoted_start(&self) -> Option<String> {
        let first = self.text[self.at..].chars().next()?;
        Some(format!(
            "text that begins with `{first}` must be quoted{}",
            self.quoted(self.at - self.start)
        ))
    }

    fn alias(&self) -> Option<String> {
        let value = &self.row[self.at - self.start..];
        let name = value.strip_prefix('*')?.split([' ', ',', ']', '}']).next()?;
        Some(format!(
            "`*{name}` stands for what `&{name}` names above it, and nothing is named so; text that begins with `*` must be quoted{}",
            self.quoted(self.at - self.start)
        ))
    }

    /// Help for a line that is not `key: value`.
    fn key(&self) -> Option<String> {
        let row = self.row.trim();
        Some(match row.split_once(':') {
            Some((key, value)) if !value.is_empty() => {
                format!("behind the `:` of a key stands a blank: `{key}: {}`", value.trim_start())
            }
            Some(_) | None => {
                "a line here is `key: value`, and this one has no `:`; text that goes on is indented".to_owned()
            }
        })
    }

    /// Help for a `:` in a value, or for lines below a value.
    fn second_colon(&self) -> Option<String> {
        let value = self.value();
        if value < self.at - self.start {
            return Some(format!("text with `: ` in it must be quoted{}", self.quoted(value)));
        }
        let (line, above) = self.above().next()?;
        let above = above.trim();
        if !above.contains(": ") && !above.ends_with(':') {
            let blank =
                if above.contains(':') { ": behind its `:` a blank is missing" } else { "" };
            return Some(format!("line {line} is no `key: value`{blank}"));
        }
        let outer = self.above().find(|(_, row)| indent(row) < indent(self.row));
        let (line, _) = outer.filter(|(_, row)| !row.trim_end().ends_with(':'))?;
        Some(format!("line {line} has a value already: nothing can be indented below it"))
    }

    /// Help for a line whose indentation fits no line above, or for text after `{…}`.
    fn indented(&self) -> Option<String> {
        let (own, value) = (indent(self.row), self.value());
        let first = self.row[value..].chars().next();
        if self.at - self.start > value && matches!(first, Some('{' | '[' | '"' | '\'')) {
            let first = first.unwrap_or_default();
            return Some(match first {
                '{' | '[' => {
                    format!("text that begins with `{first}` must be quoted{}", self.quoted(value))
                }
                _ => format!("nothing stands behind the closing `{first}`"),
            });
        }
        if self.row.trim_start().starts_with("- ") && self.at - self.start > own {
            return Some("a list stands below a key of its own, `key:`".to_owned());
        }
        // The indentation levels that are open here, innermost first.
        let mut open: Vec<usize> = Vec::new();
        for (_, row) in self.above() {
            if open.last().is_none_or(|last| indent(row) < *last) {
                open.push(indent(row));
            }
        }
        let levels: Vec<String> = open.iter().rev().map(|level| level.to_string()).collect();
        (!open.is_empty() && !open.contains(&own)).then(|| {
            format!(
                "this line is indented by {own}, and what it may belong to by {}: indent it alike",
                levels.join(" or ")
            )
        })
    }

    /// Help for a quote that is not closed.
    fn open_quote(&self) -> Option<String> {
        let end = self.at + usize::from(self.text[self.at..].starts_with(['"', '\'']));
        let before = &self.text[..end];
        // A quote opens a text only after a blank or a bracket; in `it's` it is an apostrophe.
        let opens = |i: &usize| before[..*i].ends_with([' ', '[', '{', ',', '\n']) || *i == 0;
        let place = before.rmatch_indices(['"', '\'']).map(|(i, _)| i).find(opens)?;
        let quote = before[place..].chars().next()?;
        Some(format!("the `{quote}` of line {} is not closed", self.line(place)))
    }

    /// Help for text after a closing quote.
    fn behind_quote(&self) -> Option<String> {
        let value = self.value();
        let quote = self.row[value..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some(if quote == '"' {
            r#"the quotes go around all of the text; a `"` in it is written `\"`"#.to_owned()
        } else {
            "the quotes go around all of the text; a `'` in it is written `''`".to_owned()
        })
    }

    /// Help that names the innermost bracket that is still open.
    fn open_bracket(&self) -> Option<String> {
        let mut closed = 0;
        let here = self.text[self.at..].starts_with(['[', '{']);
        let end = if here { self.at + 1 } else { self.at };
        for (place, bracket) in self.text[..end].rmatch_indices(['[', ']', '{', '}']) {
            match bracket {
                "]" | "}" => closed += 1,
                _ if closed > 0 => closed -= 1,
                _ => {
                    return Some(format!(
                        "the `{bracket}` of line {} is not closed",
                        self.line(place)
                    ));
                }
            }
        }
        None
    }

    /// The lines above that have content, the nearest first, with their numbers.
    fn above(&self) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let says =
            |(_, row): &(usize, &str)| !row.trim().is_empty() && !row.trim_start().starts_with('#');
        let rows: Vec<(usize, &str)> =
            self.text[..self.start].lines().enumerate().map(|(i, row)| (i + 1, row)).collect();
        rows.into_iter().rev().filter(says)
    }
}

/// The number of blanks at the start of a line.
fn indent(row: &str) -> usize {
    row.len() - row.trim_start_matches(' ').len()
}
