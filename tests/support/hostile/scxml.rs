//! SCXML that is meant to hurt.

use super::cases::{Case, case, noise};

/// A document of these states.
fn document(inside: &str) -> String {
    format!("<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">{inside}</scxml>\n")
}

/// An invocation of a document of these states.
fn invoke(inside: &str) -> String {
    format!("<invoke><content><scxml name=\"x\">{inside}</scxml></content></invoke>")
}

/// A document that invokes one that invokes one, so many times.
fn invoked(times: usize) -> String {
    let [open, close] = ["<state id=\"a\"><transition event=\"go\"/>", "</state>"];
    let [head, tail] = ["<invoke><content><scxml>", "</scxml></content></invoke>"];
    let inner = format!("{open}{head}").repeat(times) + "<final id=\"f\"/>";
    document(&(inner + &format!("{tail}{close}").repeat(times)))
}

/// Entities, each ten times the one before it.
fn laughs() -> String {
    let mut text = String::from("<!DOCTYPE scxml [<!ENTITY a0 \"ha\">");
    for i in 1..12 {
        let all = format!("&a{};", i - 1).repeat(10);
        text += &format!("<!ENTITY a{i} \"{all}\">");
    }
    text + "]><scxml><state id=\"&a11;\"/></scxml>"
}

/// All of them.
pub fn all() -> Vec<Case> {
    let line = "<transition event=\"go\"/>";
    let state = |inside: &str| document(&format!("<state id=\"a\">{line}{inside}</state>"));
    let nested = |what: &str, times: usize| {
        let open: String = (0..times)
            .map(|i| format!("<{what} id=\"s{i}\"><transition event=\"e{i}\"/>"))
            .collect();
        document(&format!("{open}{}", format!("</{what}>").repeat(times)))
    };
    let sum = |times: usize| format!("<onentry><log expr=\"{}1\"/></onentry>", "1+".repeat(times));
    let brackets = "(".repeat(50_000);
    vec![
        case("billion laughs", "a.scxml", laughs(), 1, "error[C0001] a document type is not read"),
        case(
            "an external entity",
            "a.scxml",
            "<!DOCTYPE s [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><scxml name=\"&x;\"/>",
            1,
            "error[C0001] a document type is not read",
        ),
        case("an entity of nobody", "a.scxml", state("&x;"), 1, "error[C0001] no entity `x`"),
        case(
            "30,000 nested states, SCXML",
            "a.scxml",
            nested("state", 30_000),
            1,
            "error[C0001] elements nest more than 100 deep",
        ),
        case(
            "90 nested states, SCXML",
            "a.scxml",
            nested("state", 90),
            1,
            "error[C0202] states nest more than 50 deep",
        ),
        case(
            "10,000 nested invocations",
            "a.scxml",
            invoked(10_000),
            1,
            "error[C0001] elements nest more than 100 deep",
        ),
        case(
            "24 nested invocations",
            "a.scxml",
            invoked(24),
            1,
            "error[C0503] documents that invoke each other nest at most 16 deep",
        ),
        case("16 nested invocations", "a.scxml", invoked(16), 0, ""),
        case(
            "20,000 invocations of one name",
            "a.scxml",
            state(&invoke("<final id=\"f\"/>").repeat(20_000)),
            1,
            "error[C0503] more than 1000 documents in one file",
        ),
        case(
            "90 nested conditions, SCXML",
            "a.scxml",
            state(&format!(
                "<onentry>{}{}</onentry>",
                "<if cond=\"true\">".repeat(90),
                "</if>".repeat(90)
            )),
            1,
            "error[C0202] executable content nests more than 40 deep",
        ),
        case("10 MB of noise, SCXML", "a.scxml", noise(10_000_000), 1, "error[C0001]"),
        case("2 MB of <, SCXML", "a.scxml", "<".repeat(2_000_000), 1, "error[C0001]"),
        case(
            "an unclosed tag",
            "a.scxml",
            "<scxml><state>",
            1,
            "error[C0001] the file ends before",
        ),
        case(
            "a tag that closes another",
            "a.scxml",
            "<scxml><state></scxml>",
            1,
            "error[C0001] `<state>` is closed by `</scxml>`",
        ),
        case(
            "an attribute given twice",
            "a.scxml",
            "<scxml name=\"a\" name=\"b\"/>",
            1,
            "error[C0001] a second attribute `name`",
        ),
        case(
            "100,000 attributes",
            "a.scxml",
            format!("<scxml {}/>", (0..100_000).map(|i| format!("a{i}=\"\" ")).collect::<String>()),
            1,
            "error[C0001] an element with more than 200 attributes",
        ),
        case(
            "another encoding",
            "a.scxml",
            format!("<?xml version=\"1.0\" encoding=\"UTF-16\"?>{}", state("")),
            0,
            "warning[C0101] the file says that it is `UTF-16`",
        ),
        case("invalid UTF-8, SCXML", "a.scxml", b"<scxml name=\"\xff\"/>", 1, "it is not UTF-8"),
        case(
            "50,000 parentheses, SCXML",
            "a.scxml",
            state(&format!("<transition event=\"e\" cond=\"{brackets}\"/>")),
            1,
            "error[C0503] this nests too deep",
        ),
        case(
            "a sum of 50,000",
            "a.scxml",
            state(&sum(50_000)),
            1,
            "error[C0503] this nests too deep",
        ),
        case(
            "a condition of 5 MB",
            "a.scxml",
            state(&format!("<transition event=\"e\" cond=\"{}\"/>", "x".repeat(5_000_000))),
            0,
            "warning[C0408]",
        ),
        case(
            "1,000 events of 1,000 actions",
            "a.scxml",
            state(&format!(
                "<transition event=\"{}\">{}</transition>",
                (0..1_000).map(|i| format!("e{i} ")).collect::<String>(),
                "<log label=\"x\"/>".repeat(1_000)
            )),
            1,
            "error[C0503] this document comes to more than 200000 lines and actions",
        ),
        case(
            "50,000 states without ids",
            "a.scxml",
            document(&format!("<state>{line}</state>").repeat(50_000)),
            0,
            "warning[C0203] `state2` can never be entered",
        ),
        case(
            "another document",
            "a.scxml",
            "<svg/>",
            1,
            "error[C0101] `<svg>` is not an SCXML document",
        ),
    ]
}
