//! Texts of XML with references decoded. Each character keeps its place in the file.

use crate::span::{FileId, Span};

/// A decoded text, with the places of its characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    /// The decoded text.
    pub(super) value: String,
    /// Offsets in `value`, each with the place in the file at which its text begins. Ascending; the first offset is 0.
    places: Vec<(usize, usize)>,
    /// The whole text, as written.
    pub(super) span: Span,
}

impl Text {
    /// Decodes the value of an attribute whose first byte is at `start`. All white space becomes blanks.
    pub(super) fn attribute(file: FileId, raw: &str, start: usize) -> Self {
        let mut text = Self::empty(file, start, raw.len());
        text.decode(raw, start, true);
        text
    }

    /// Decodes the text between two tags. `CDATA` is kept literally; comments and instructions are left out.
    pub(super) fn content(file: FileId, raw: &str, start: usize) -> Self {
        let mut text = Self::empty(file, start, raw.len());
        let mut at = 0;
        while at < raw.len() {
            let rest = &raw[at..];
            let next = rest.find('<').unwrap_or(rest.len());
            text.decode(&rest[..next], start + at, false);
            at += next;
            let rest = &raw[at..];
            let (opening, closing) = if rest.starts_with("<![CDATA[") {
                ("<![CDATA[", "]]>")
            } else if rest.starts_with("<!--") {
                ("<!--", "-->")
            } else if rest.starts_with("<?") {
                ("<?", "?>")
            } else {
                // An element inside of a text, which the caller has reported.
                ("", ">")
            };
            let inner = &rest[opening.len()..];
            let end = inner.find(closing).unwrap_or(inner.len());
            if opening == "<![CDATA[" {
                text.copy(&inner[..end], start + at + opening.len());
            }
            at += (opening.len() + end + closing.len()).min(rest.len());
        }
        text
    }

    /// The text of a separate file, which has no references.
    pub(super) fn file(file: FileId, raw: &str) -> Self {
        let mut text = Self::empty(file, 0, raw.len());
        text.copy(raw, 0);
        text
    }

    fn empty(file: FileId, start: usize, length: usize) -> Self {
        let span = Span::new(file, start, start + length);
        Self { value: String::new(), places: vec![(0, start)], span }
    }

    fn copy(&mut self, raw: &str, place: usize) {
        self.places.push((self.value.len(), place));
        self.value.push_str(raw);
    }

    fn decode(&mut self, raw: &str, start: usize, blanks: bool) {
        let special = |c: char| c == '&' || c == '\r' || blanks && matches!(c, '\n' | '\t');
        let mut at = 0;
        while at < raw.len() {
            let rest = &raw[at..];
            let plain = rest.find(special).unwrap_or(rest.len());
            if plain > 0 {
                self.copy(&rest[..plain], start + at);
                at += plain;
                continue;
            }
            self.places.push((self.value.len(), start + at));
            let (c, length) = match reference(rest) {
                Some(found) => found,
                None if rest.starts_with("\r\n") => (if blanks { ' ' } else { '\n' }, 2),
                None if rest.starts_with('&') => ('&', 1),
                None => (if blanks { ' ' } else { '\n' }, 1),
            };
            self.value.push(c);
            at += length;
        }
        self.places.push((self.value.len(), start + raw.len()));
    }

    /// The place in the file of the bytes `start..end` of the value.
    pub(super) fn place(&self, start: usize, end: usize) -> Span {
        Span::new(self.span.file, self.offset(start), self.offset(end).max(self.offset(start)))
    }

    fn offset(&self, at: usize) -> usize {
        let nth = self.places.partition_point(|(from, _)| *from <= at).saturating_sub(1);
        let (from, place) = self.places[nth];
        (place + at - from).min(self.span.end as usize)
    }

    /// The place of the text without surrounding white space.
    pub(super) fn trimmed(&self) -> Span {
        let start = self.value.len() - self.value.trim_start().len();
        let end = self.value.trim_end().len().max(start);
        if start == end { self.span } else { self.place(start, end) }
    }

    /// The words of the text, each with its place.
    pub(super) fn words(&self) -> Vec<(&str, Span)> {
        let mut found = Vec::new();
        let mut at = 0;
        for word in self.value.split_whitespace() {
            at += self.value[at..].find(word).unwrap_or(0);
            found.push((word, self.place(at, at + word.len())));
            at += word.len();
        }
        found
    }
}

/// The character that the reference `&…;` at the start of `raw` means, and the length of the reference in bytes.
fn reference(raw: &str) -> Option<(char, usize)> {
    // The longest reference is `&#x10FFFF;`; a `;` further behind belongs to something else.
    let end = raw.bytes().take(12).position(|b| b == b';')?;
    let name = raw.strip_prefix('&')?.get(..end.checked_sub(1)?)?;
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_behind_references_are_those_of_the_file() {
        let text = Text::attribute(FileId(0), "a &lt; b\r\n&amp;&amp; c", 10);
        assert_eq!(text.value, "a < b && c");
        assert_eq!(text.place(2, 3), Span::new(FileId(0), 12, 16));
        assert_eq!(text.place(4, 5), Span::new(FileId(0), 17, 18));
        assert_eq!(text.place(9, 10), Span::new(FileId(0), 31, 32));
    }

    #[test]
    fn sections_are_taken_as_they_stand_and_comments_left_out() {
        let text = Text::content(FileId(0), "x <!-- & --><![CDATA[< &amp;]]>&#x41;", 0);
        assert_eq!(text.value, "x < &amp;A");
        assert_eq!(text.place(2, 3), Span::new(FileId(0), 21, 22));
    }
}
