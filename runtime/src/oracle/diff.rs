//! A line diff of two texts, for messages about changed prompts.

/// The maximum number of lines of each text. It bounds the table, whose size is the product of both. Further lines are ignored.
const MOST: usize = 2000;
/// The number of equal lines that are shown around a change.
const AROUND: usize = 2;

/// The kind of a line in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Same,
    Gone,
    New,
}

/// The difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diff {
    lines: Vec<(Mark, String)>,
    /// The number of lines that only one of the texts has.
    pub(super) changes: usize,
}

/// Computes the difference by a longest common subsequence of the lines.
pub(super) fn diff(old: &str, new: &str) -> Diff {
    let a: Vec<&str> = old.split('\n').take(MOST).collect();
    let b: Vec<&str> = new.split('\n').take(MOST).collect();
    // A common beginning and end need no table.
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail =
        a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (mid_a, mid_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let width = mid_b.len() + 1;
    let mut common = vec![0u32; (mid_a.len() + 1) * width];
    for i in (0..mid_a.len()).rev() {
        for j in (0..mid_b.len()).rev() {
            common[i * width + j] = if mid_a[i] == mid_b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let mut lines: Vec<(Mark, String)> = Vec::new();
    let mut put = |mark, line: &str| lines.push((mark, line.to_owned()));
    a[..head].iter().for_each(|line| put(Mark::Same, line));
    let (mut i, mut j) = (0, 0);
    while i < mid_a.len() || j < mid_b.len() {
        if i < mid_a.len() && j < mid_b.len() && mid_a[i] == mid_b[j] {
            put(Mark::Same, mid_a[i]);
            (i, j) = (i + 1, j + 1);
        } else if j >= mid_b.len()
            || (i < mid_a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            put(Mark::Gone, mid_a[i]);
            i += 1;
        } else {
            put(Mark::New, mid_b[j]);
            j += 1;
        }
    }
    a[a.len() - tail..].iter().for_each(|line| put(Mark::Same, line));
    let changes = lines.iter().filter(|(mark, _)| *mark != Mark::Same).count();
    Diff { lines, changes }
}

impl Diff {
    /// The changes with the lines around them, at most `most` lines.
    pub(super) fn text(&self, most: usize) -> String {
        let changed: Vec<usize> = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, (mark, _))| *mark != Mark::Same)
            .map(|(i, _)| i)
            .collect();
        let mut out: Vec<String> = Vec::new();
        let mut last = None;
        for (i, (mark, line)) in self.lines.iter().enumerate() {
            let at = changed.partition_point(|c| *c + AROUND < i);
            if changed.get(at).is_none_or(|c| *c > i + AROUND) {
                continue;
            }
            if last.is_some_and(|last| last + 1 < i) || (last.is_none() && i > 0) {
                out.push("  …".into());
            }
            last = Some(i);
            let sign = match mark {
                Mark::Same => ' ',
                Mark::Gone => '-',
                Mark::New => '+',
            };
            out.push(format!("{sign} {line}"));
        }
        if out.len() > most {
            let more = out.len() - most;
            out.truncate(most);
            out.push(format!("  … and {more} further lines"));
        }
        out.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_stands_between_its_neighbours() {
        let old = "a\nb\nc\nd\ne\nf\ng";
        let new = "a\nb\nc\nD\ne\nf\ng";
        let found = diff(old, new);
        assert_eq!(found.changes, 2);
        assert_eq!(found.text(9), "  …\n  b\n  c\n- d\n+ D\n  e\n  f");
        assert_eq!(found.text(3), "  …\n  b\n  c\n  … and 4 further lines");
    }

    #[test]
    fn as_little_as_possible_is_new() {
        for (old, new, changes) in [
            ("a", "a", 0),
            ("", "a", 2),
            ("a\nb\nc", "b\nc\nd", 2),
            ("x\na\ny\nb", "a\nz\nb", 3),
            ("a\nb", "b\na", 2),
        ] {
            assert_eq!(diff(old, new).changes, changes, "{old:?} {new:?}");
        }
    }
}
