//! Fixed words: keywords, settings, functions of the language, what a run knows.

/// What a keyword begins, in a few words; empty for those that only join others.
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

/// Functions of the language with their arguments.
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

/// What a run itself knows.
pub(super) const OBSERVABLES: &[(&str, &str)] = &[
    ("state", "Text"),
    ("turns", "Int"),
    ("turns_here", "Int"),
    ("fails_here", "Int"),
    ("elapsed", "Duration"),
    ("elapsed_here", "Duration"),
    ("health", "Text"),
    ("advice", "Text"),
    ("last_result", "Text"),
    ("event", "Text"),
    ("calls", "Int"),
    ("calls_here", "Int"),
    ("tokens", "Int"),
    ("tokens_here", "Int"),
    ("cost", "Float"),
    ("cost_here", "Float"),
];

/// Types of the language.
pub(super) const TYPES: &[&str] =
    &["Text", "Int", "Bool", "List", "Float", "Map", "Duration", "Json"];

/// Properties with what they take.
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

/// Limits.
pub(super) const LIMITS: &[&str] = &["turns", "calls", "tokens", "cost", "time"];

/// How runs end.
pub(super) const STATUSES: &[&str] = &["ok", "partial", "stuck", "limit", "canceled", "error"];

/// How calls fail.
pub(super) const FAILURES: &[&str] =
    &["timeout", "rate_limited", "server", "connection", "refusal", "empty", "endless"];

/// Events of the run itself, without the first word.
pub(super) const ERRORS: &[&str] = &["execution", "stuck", "livelock", "*"];

/// Formats of placeholders.
pub(super) const FORMATS: &[(&str, &str)] = &[
    (".2f", "two digits after the decimal point"),
    (".0%", "a share in percent"),
    (",", "thousands apart"),
    ("03d", "at least three digits"),
    (">10", "at the right of ten characters"),
    ("<10", "at the left of ten characters"),
    ("^10", "in the middle of ten characters"),
];
