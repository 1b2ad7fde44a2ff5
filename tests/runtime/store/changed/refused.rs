//! Changes with which a run cannot go on.

use super::table::Outcome::Refused;
use super::table::Where::{Apart, Handing, Thinking, Waiting};
use super::table::{Row, by_value, row};

const THINK: &str = "llm think { prompt \"Think of {word}, {most}.\"  returns Text into said  timeout 30m -> late }";

pub(super) const ROWS: &[Row] = &[
    row(
        "an active state is gone",
        Apart,
        &[("initial a  state a {", "initial e  state e {")],
        Refused(
            "the state `apart.left.a`, which is active, is gone: keep it, or write `renamed_from a`",
        ),
    ),
    row(
        "an active leaf has states",
        Waiting,
        &[("advice \"Wait.\"", "initial deep  state deep {}")],
        Refused("`waiting` is active and has states of its own now"),
    ),
    row(
        "an active parallel has a new region",
        Apart,
        &[("state left {", "state middle { initial m  state m {} }\n    state left {")],
        Refused("`apart.middle` is a region of `apart`, which is active without it"),
    ),
    row(
        "a parallel is none any more",
        Apart,
        &[("parallel apart {", "state apart {\n    initial left")],
        Refused("`apart` is active as a parallel, and is none any more"),
    ),
    row(
        "an active state is final",
        Waiting,
        &[(
            "state waiting {\n    advice \"Wait.\"\n    on go -> work.thinking\n    on part -> apart\n    on hand -> handing\n    after 10m { count = count + 1 }\n    after 1h -> late\n  }",
            "final waiting",
        )],
        Refused("`waiting` is active and is a final state now"),
    ),
    row(
        "the type of a variable",
        Waiting,
        &[("var count: Int = 0", "var count: Float = 0.0")],
        Refused(
            "`count` was of type Int and is of type Float: keep the type, or give the new one another name",
        ),
    ),
    row(
        "the type of a param",
        Waiting,
        &[("param most: Int = 3", "param most: Text = \"3\"")],
        Refused("`most` was of type Int and is of type Text"),
    ),
    row(
        "an optional type",
        Waiting,
        &[
            ("var said: Text", "var said: List(Text)"),
            ("var said: List(Text) = \"\"", "var said: List(Text) = []"),
            (" into said", ""),
        ],
        Refused("`said` was of type Text and is of type List(Text)"),
    ),
    row(
        "the type of a field",
        Waiting,
        &[("size: Int", "size: Text"), ("size: 1", "size: \"1\"")],
        Refused("`Plan.size` was of type Int and is of type Text"),
    ),
    row(
        "a field that is gone",
        Waiting,
        &[("  size: Int", ""), (", size: 1", "")],
        Refused("`Plan.size` is gone, and the run has values with it"),
    ),
    row(
        "a field that must be there",
        Waiting,
        &[("note: Text?", "note: Text?  more: Int"), ("note: none", "note: none, more: 2")],
        Refused("`Plan.more` is new, and the run has values without it: make its type optional"),
    ),
    by_value(row(
        "a value of an enum is gone",
        Waiting,
        &[("calm angry", "glad angry"), ("Mood.calm", "Mood.glad")],
        Refused("`mood`: `calm` is none of"),
    )),
    row(
        "a param without a default",
        Waiting,
        &[("param most: Int = 3", "param most: Int = 3\n  param least: Int")],
        Refused("the param `least` is new and has no default: give it one"),
    ),
    row(
        "a step under way is gone",
        Thinking,
        &[("llm think {", "llm muse {")],
        Refused(
            "the step `think`, which is under way, is gone: keep it, or write `renamed_from think`",
        ),
    ),
    row(
        "a step under way is another",
        Thinking,
        &[(THINK, "call think look(word) { returns Text into said }")],
        Refused("the step `think`, which is under way, was `llm` and is `call`"),
    ),
    row(
        "the answer of a step under way",
        Thinking,
        &[("returns Text into said  timeout", "returns Int  timeout")],
        Refused("the answer of `think` was of type Text and is of type Int"),
    ),
    row(
        "steps have changed places",
        Thinking,
        &[
            ("      code before { count = count + 1 }\n", ""),
            ("code last {", "code before { count = count + 1 }\n      code last {"),
        ],
        Refused(
            "a turn is under way in which `before` comes before `think`, and they have changed places",
        ),
    ),
    row(
        "steps to come have changed places",
        Thinking,
        &[
            ("      code behind { count = count + 10 }\n", ""),
            (
                "code last { count = count + 100 }",
                "code last { count = count + 100 }\n      code behind { count = count + 10 }",
            ),
        ],
        Refused("they have changed places: let the turn end first"),
    ),
    row(
        "a state of a chart that is run is gone",
        Handing,
        &[("initial reading\n  state reading {", "initial studying\n  state studying {")],
        Refused("in `Part`: the state `reading`, which is active, is gone"),
    ),
];
