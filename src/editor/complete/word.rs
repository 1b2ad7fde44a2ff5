//! The meanings of keywords, functions and properties, in a few words. The compiler has the lists of them; tests compare.

use chartc_check::lower::machine_errors;

/// The meaning of a keyword; empty for keywords that only join others.
pub(super) fn meaning(word: &str) -> &'static str {
    const WORDS: &[(&str, &str)] = &[
        ("import", "the declarations of another file"),
        ("type", "a record"),
        ("enum", "a closed set of names"),
        ("chart", "a tree of states"),
        ("fn", "a pure function of the host"),
        ("do", "an effect of the host"),
        ("tool", "what a model may call"),
        ("tools", "a set of tools"),
        ("client", "a model"),
        ("component", "a fragment of prompts"),
        ("test", "a scenario"),
        ("param", "a constant of an instance"),
        ("input", "set by the host"),
        ("var", "the chart's own data"),
        ("event", "what the host may send"),
        ("pred", "a named condition"),
        ("check", "a property to prove"),
        ("defaults", "what a failed step does"),
        ("limits", "bounds of a run"),
        ("trace", "how many transitions are remembered"),
        ("meta", "carried, not interpreted"),
        ("state", "a state"),
        ("parallel", "states that are active together"),
        ("final", "an end"),
        ("initial", "what is entered first"),
        ("history", "what was active when its parent was left"),
        ("on", "taken on an event"),
        ("when", "taken as soon as a condition holds"),
        ("after", "taken after a time or turns"),
        ("each", "for every leaf, or every element"),
        ("may", "an option of the model"),
        ("from", "lines of other states"),
        ("enter", "actions on entry"),
        ("exit", "actions on exit"),
        ("allow", "which moves are permitted"),
        ("advice", "what prompts show while the state is active"),
        ("llm", "a model call"),
        ("ask", "the model chooses among options"),
        ("code", "assignments"),
        ("call", "a tool call"),
        ("human", "a question to a person"),
        ("run", "another chart"),
        ("prompt", "what the model is told"),
        ("returns", "the type of the answer"),
        ("retry", "further attempts"),
        ("done", "when it has ended"),
        ("error", "when it has failed"),
        ("timeout", "when it takes too long"),
        ("doubt", "when nobody knows whether it was done"),
        ("cut", "a text that was cut off will do"),
        ("ends", "the turn ends behind the step"),
        ("raise", "an event that is handled at once"),
        ("send", "an event as from outside"),
        ("cancel", "takes a sent event back"),
        ("log", "a line of the trace"),
        ("given", "what a test begins with"),
        ("expect", "what has to hold"),
        ("answers", "what a model or a person answers"),
        ("fails", "a call that fails"),
        ("wait", "time that passes"),
        ("turn", "a turn of the host"),
        ("stay", "moves nothing"),
    ];
    WORDS.iter().find(|(known, _)| *known == word).map_or("", |(_, meaning)| meaning)
}

/// The functions of the language, with their arguments and meanings.
pub(super) const FUNCTIONS: &[(&str, &[&str], &str)] = &[
    ("len", &["x"], "how many characters, items or keys"),
    ("min", &["a", "b"], "the least"),
    ("max", &["a", "b"], "the greatest"),
    ("sum", &["list"], "of the numbers of a list"),
    ("any", &["list"], "whether one is true"),
    ("all", &["list"], "whether all are true"),
    ("sorted", &["list"], "in order"),
    ("set", &["list"], "without repetitions"),
    ("abs", &["x"], "without its sign"),
    ("round", &["x"], "to a whole number"),
    ("lower", &["text"], "in lower case"),
    ("upper", &["text"], "in upper case"),
    ("concat", &["a", "b"], "texts one behind the other"),
    ("starts_with", &["text", "start"], "whether a text begins so"),
    ("get", &["map", "key"], "the value in a map, or `none`"),
    ("str", &["x"], "as a text"),
    ("int", &["x"], "as an Int"),
    ("float", &["x"], "as a Float"),
    ("bool", &["x"], "as a Bool"),
    ("is_a", &["x", "\"int\""], "whether a Json is of a kind"),
    ("in", &["state"], "whether a state is active"),
    ("turns_in", &["state"], "turns in a state"),
    ("streak", &["tool"], "calls in a row of the same tool, or with the same argument"),
    ("repeated", &["set.argument"], "the value that a streak counts"),
];

/// The types of the language that are used most.
pub(super) const COMMON: [&str; 4] = ["Text", "Int", "Bool", "List"];

/// The properties of `check` lines, with their snippets and meanings.
pub(super) const PROPERTIES: &[(&str, &str, &str)] = &[
    ("reaches", "reaches(${1:state})", "some run enters it"),
    (
        "always_reaches",
        "always_reaches(${1:state})",
        "it can be entered from every point of every run",
    ),
    ("never", "never(${1:a} before ${2:b})", "no run enters `a` unless it has entered `b` before"),
    ("no_call", "no_call(${1:state})", "no tool is called inside it"),
    ("ends_within", "ends_within(${1:10} turns)", "every run is over by then"),
    ("at_most", "at_most(${1:10} calls)", "no run makes more model calls"),
];

/// The errors of the machine, as they follow `error.`.
pub(super) fn errors() -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    for name in machine_errors() {
        let first = name.split('.').next().unwrap_or(name);
        if !found.contains(&first) {
            found.push(first);
        }
    }
    found.push("*");
    found
}

/// The formats of placeholders, with their meanings.
pub(super) const FORMATS: &[(&str, &str)] = &[
    (".2f", "two digits after the decimal point"),
    (".0%", "a share in percent"),
    (",", "thousands apart"),
    ("03d", "at least three digits"),
    (">10", "at the right of ten characters"),
    ("<10", "at the left of ten characters"),
    ("^10", "in the middle of ten characters"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_check::lower::{language_functions, language_types, properties};
    use std::collections::BTreeSet;

    #[test]
    fn words_are_those_of_the_compiler() {
        let own: BTreeSet<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
        // Those of translations are not written by people.
        let known = language_functions().filter(|name| *name != "fail" && !name.starts_with("js_"));
        assert_eq!(own, known.collect());
        let own: BTreeSet<&str> = PROPERTIES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(own, properties().collect());
        let types: BTreeSet<&str> = language_types().collect();
        assert!(COMMON.iter().all(|name| types.contains(name)));
        assert_eq!(errors(), ["execution", "livelock", "limit", "stuck", "*"]);
    }
}
