//! Makes external text safe to display: escapes characters that move the cursor, change the direction of text or are invisible.
//!
//! Models, servers, charts, file names and traces may contain any character. Unescaped, some of them alter the display of a terminal or an
//! editor. All text that is shown or generated passes through one of these functions. Escapes are those of texts in a chart: `\n`, `\r`,
//! `\t`, or the number of the character as in `\u{1b}`. Letters of all scripts, accents and emoji stay as they are, with the joiners and
//! selectors that their spelling needs.
//!
//! Source: Unicode Technical Standard 55 (source code handling), Unicode Standard Annex 31 (joiners).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

/// Escapes a text for display on one line. Line ends and tabs are escaped, too, so that no value adds a line to the display.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// Escapes a text for display on several lines: line ends and tabs stay as they are.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Escapes what a build server would execute in a line of its log. For GitHub that is `::` and a word at the beginning of the line. For
/// GitHub, Azure Pipelines and TeamCity it is `##` with a word and a bracket anywhere, as in `##[group]` or `##vso[`. The line may contain
/// colour codes.
pub fn inert(line: &str) -> Cow<'_, str> {
    let blank = line.len() - line.trim_start().len();
    let word = line[blank..].strip_prefix("::").and_then(|rest| rest.chars().next());
    let begins = word.is_some_and(char::is_alphanumeric).then_some(blank);
    let marks = line.match_indices("##").map(|(at, _)| at).filter(|at| {
        line[at + 2..].trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('[')
    });
    let mut out = String::new();
    let mut rest = 0;
    for at in begins.into_iter().chain(marks) {
        out.push_str(&line[rest..at]);
        out.push_str(&format!("\\u{{{:x}}}", line.as_bytes()[at]));
        rest = at + 1;
    }
    if rest == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(&line[rest..]);
    Cow::Owned(out)
}

/// Escapes JSON without changing its meaning: hidden characters, which JSON allows only in strings, become `\u202e` and the like.
pub fn json(text: &str) -> Cow<'_, str> {
    if !may_hide(text) {
        return Cow::Borrowed(text);
    }
    replaced(
        text,
        |_, _| false,
        |c, out| {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        },
    )
}

/// Like [`text`], but keeps colours (`ESC [ … m`). For text that this program has coloured itself.
pub fn coloured(text: &str) -> Cow<'_, str> {
    if !may_hide(text) {
        return Cow::Borrowed(text);
    }
    replaced(text, |at, _| is_colour(&text[at..]), escape)
}

/// The hidden characters of a text with their byte positions. Line ends and tabs are not hidden.
pub fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    // Most texts hide nothing, and the quick test is cheaper than the search.
    let text = if may_hide(text) { text } else { "" };
    let mut flag = 0;
    text.char_indices().filter(move |(at, c)| is_hidden(text, *at, *c, &mut flag))
}

/// Appends the escape of a character to `out`.
pub fn escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
    }
}

/// Whether a character changes the direction of the text around it.
pub const fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is a control character of ASCII or Latin-1, or the line or paragraph separator of Unicode.
pub const fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character is a tag: an invisible copy of an ASCII character, with which text can be smuggled.
pub const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

fn escaped(text: &str, also: fn(char) -> bool) -> Cow<'_, str> {
    if !may_hide(text) && !text.contains(also) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = 0;
    let mut flag = 0;
    for (at, c) in text.char_indices() {
        if also(c) || is_hidden(text, at, c, &mut flag) {
            out.push_str(&text[rest..at]);
            escape(c, &mut out);
            rest = at + c.len_utf8();
        }
    }
    if rest == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[rest..]);
    Cow::Owned(out)
}

fn replaced(
    text: &str,
    keeps: impl Fn(usize, char) -> bool,
    write: fn(char, &mut String),
) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = 0;
    for (at, c) in hidden(text) {
        if !keeps(at, c) {
            out.push_str(&text[rest..at]);
            write(c, &mut out);
            rest = at + c.len_utf8();
        }
    }
    if rest == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[rest..]);
    Cow::Owned(out)
}

/// Whether the text may have hidden characters. A quick test that is false for text of printable ASCII.
fn may_hide(text: &str) -> bool {
    text.bytes().any(|b| b >= 0x7f || b < b' ' && b != b'\n' && b != b'\t')
}

/// Whether the character `c` at byte `at` is hidden. `flag` is the end of the tags that belong to the last black flag; `c` may move it.
fn is_hidden(text: &str, at: usize, c: char, flag: &mut usize) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && c != '\n' && c != '\t';
    }
    let before = || text[..at].chars().next_back();
    let after = || text[at + c.len_utf8()..].chars().next();
    match c {
        BLACK_FLAG => {
            // Tags behind a black flag spell a region, such as Scotland. Anywhere else they are hidden text.
            let behind = at + c.len_utf8();
            *flag = behind + region(&text[behind..]);
            false
        }
        c if is_tag(c) => at >= *flag,
        // Zero-width non-joiner and joiner: needed inside some scripts, and by the joiner in sequences of emoji.
        '\u{200c}' => !(before().is_some_and(joins) && after().is_some_and(joins)),
        '\u{200d}' => {
            let letters = before().is_some_and(joins) && after().is_some_and(joins);
            !(letters || before().is_some_and(ends_emoji) && after().is_some_and(is_emoji))
        }
        // Presentation selectors of symbols, and those in keycaps such as `1️⃣`.
        '\u{fe0e}' | '\u{fe0f}' => !before().is_some_and(|c| {
            is_emoji(c) || matches!(c, '#' | '*' | '0'..='9') && after() == Some('\u{20e3}')
        }),
        // Selectors of variants of ideographs.
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => !before().is_some_and(is_ideograph),
        // Selectors of variants of Mongolian letters.
        '\u{180b}'..='\u{180d}' | '\u{180f}' => {
            !before().is_some_and(|c| matches!(c, '\u{1820}'..='\u{18aa}'))
        }
        // The blank of Braille is visible as a character only among other Braille.
        '\u{2800}' => !before().into_iter().chain(after()).any(is_braille),
        c => is_control(c) || is_direction(c) || takes_no_room(c),
    }
}

const BLACK_FLAG: char = '\u{1f3f4}';

/// The length in bytes of the tags that spell a region, 3 to 6 letters and digits with the closing tag; 0 if they spell none.
fn region(text: &str) -> usize {
    let is_word = |c: &char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let word = text.chars().take_while(is_word).count();
    let behind = word * '\u{e0061}'.len_utf8();
    let ends = text[behind..].starts_with('\u{e007f}');
    if (3..=6).contains(&word) && ends { behind + '\u{e007f}'.len_utf8() } else { 0 }
}

/// Whether a character takes no room and is always invisible.
const fn takes_no_room(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe03}'..='\u{fe0d}'
            | '\u{feff}' | '\u{ffa0}' | '\u{13430}'..='\u{1345f}' | '\u{16fe4}' | '\u{1d159}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0080}'..='\u{e0fff}'
    )
}

/// Whether a character belongs to a script whose spelling needs joiners: Arabic and related scripts, Mongolian, Indic and related scripts.
const fn joins(c: char) -> bool {
    matches!(
        c,
        '\u{620}'..='\u{6ff}' | '\u{710}'..='\u{77f}' | '\u{7ca}'..='\u{7f5}' | '\u{840}'..='\u{8ff}'
            | '\u{900}'..='\u{dff}' | '\u{f40}'..='\u{fbc}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17b3}'
            | '\u{17b6}'..='\u{17d3}' | '\u{1820}'..='\u{18aa}' | '\u{1a20}'..='\u{1aad}'
            | '\u{1b00}'..='\u{1c4f}' | '\u{a840}'..='\u{a8ff}' | '\u{a980}'..='\u{a9df}'
            | '\u{aa00}'..='\u{aadf}' | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdfb}'
            | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}'
    )
}

const fn is_braille(c: char) -> bool {
    matches!(c, '\u{2801}'..='\u{28ff}')
}

const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a symbol may be drawn as an emoji.
const fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

/// Whether a character ends an emoji: an emoji itself, or a modifier of the emoji before it.
const fn ends_emoji(c: char) -> bool {
    is_emoji(c) || c == '\u{fe0f}' || is_tag(c)
}

/// Whether the text begins with an escape sequence that sets colours.
fn is_colour(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return false };
    let end = rest.bytes().position(|b| !(b.is_ascii_digit() || b == b';'));
    end.is_some_and(|end| rest.as_bytes()[end] == b'm')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every control except line end and tab, and every other character that is always hidden.
    fn hostile() -> impl Iterator<Item = char> {
        let all = [
            0..=8,
            0xb..=0x1f,
            0x7f..=0x9f,
            0x200b..=0x200f,
            0x2028..=0x202e,
            0x2060..=0x206f,
            0xfe00..=0xfe0f,
            0xe0000..=0xe01ef,
        ];
        let single = [
            0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x180e, 0x2800, 0x3164, 0xfeff, 0xffa0, 0x13430,
            0x16fe4, 0x1d159,
        ];
        all.into_iter().flatten().chain(single).filter_map(char::from_u32)
    }

    #[test]
    fn nothing_hidden_is_shown() {
        for c in hostile() {
            for (text, shown) in [
                (format!("{c}"), format!("\\u{{{:x}}}", u32::from(c))),
                (format!("a{c}b"), format!("a\\u{{{:x}}}b", u32::from(c))),
            ] {
                let shown = if c == '\r' { shown.replace("\\u{d}", "\\r") } else { shown };
                assert_eq!(line(&text), shown);
                assert_eq!(super::text(&text), shown);
                assert_eq!(coloured(&text), shown);
                assert_eq!(hidden(&text).map(|(_, c)| c).collect::<alloc::vec::Vec<_>>(), [c]);
            }
        }
        assert_eq!(line("a\nb\tc"), "a\\nb\\tc");
        assert_eq!(super::text("a\nb\tc"), "a\nb\tc");
    }

    #[test]
    fn what_is_written_is_left_alone() {
        for text in [
            "plain, \\n, {x}",
            "zażółć über naïve e\u{301}",
            "⠓⠊\u{2800}⠓⠊",
            "日本語 漢\u{e0100} עברית العربية हिन्दी",
            "می\u{200c}خواهم क्\u{200d}ष",
            "👩\u{200d}🚀 ❤\u{fe0f} 👩🏽\u{200d}💻 🏳\u{fe0f}\u{200d}🌈 1\u{fe0f}\u{20e3} ©\u{fe0f} 🇵🇱",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        ] {
            assert!(matches!(line(text), Cow::Borrowed(_)), "{text:?}");
            assert!(matches!(json(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn a_flag_smuggles_no_text() {
        assert_eq!(line("🏴\u{e0061}\u{e0062}"), "🏴\\u{e0061}\\u{e0062}");
        assert_eq!(line("a\u{fe0f}1\u{fe0f}"), "a\\u{fe0f}1\\u{fe0f}");
        assert_eq!(line("ap\u{200d}prove\u{200c}"), "ap\\u{200d}prove\\u{200c}");
    }

    #[test]
    fn only_colours_pass() {
        assert_eq!(coloured("\u{1b}[1;31mx\u{1b}[0m"), "\u{1b}[1;31mx\u{1b}[0m");
        assert_eq!(coloured("\u{1b}[2Kx\u{1b}]0;t\u{7}"), "\\u{1b}[2Kx\\u{1b}]0;t\\u{7}");
        assert_eq!(coloured("x\u{1b}[3"), "x\\u{1b}[3");
    }

    #[test]
    fn json_keeps_its_meaning() {
        assert_eq!(
            json("{\"a\":\"\u{202e}\u{9b}\u{e0041}\u{7f}\"}"),
            "{\"a\":\"\\u202e\\u009b\\udb40\\udc41\\u007f\"}"
        );
    }
}
