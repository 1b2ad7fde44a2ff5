//! Changes that do no harm.

use super::table::Outcome::Loads;
use super::table::Where::{Apart, LongWaiting, Thinking, Waiting};
use super::table::{Row, after, of, row, tells};

pub(super) const ROWS: &[Row] = &[
    row("nothing", Thinking, &[], Loads("work.thought count=111")),
    row(
        "a prompt",
        Thinking,
        &[("Think of {word}", "Consider {word}")],
        Loads("work.thought count=111"),
    ),
    row("advice", Waiting, &[("\"Wait.\"", "\"Rest.\"")], Loads("waiting count=0")),
    row(
        "a limit",
        Thinking,
        &[("event go\n", "event go\n  limits { calls 20  turns 50 }\n")],
        Loads("work.thought count=111"),
    ),
    row(
        "a state of the chart",
        Waiting,
        &[("state soon {}", "state soon {}\n  state more { on rest -> soon }")],
        Loads("waiting count=0"),
    ),
    row(
        "a state before all others",
        Apart,
        &[("state waiting {", "state first { on go -> waiting }\n  state waiting {")],
        Loads("apart.left.b,apart.right.d count=0"),
    )
    .then_sends(&["rest"]),
    row(
        "states in a state that is not active",
        Waiting,
        &[("state thought {}", "state thought { initial x  state x {} }")],
        Loads("waiting count=0"),
    ),
    row(
        "a region of a parallel that is not active",
        Waiting,
        &[("state left {", "state middle { initial m  state m {} }\n    state left {")],
        Loads("waiting count=0"),
    ),
    tells(
        &["the variable `tries` is new and has its default"],
        of(
            "tries",
            row(
                "a variable",
                Waiting,
                &[("var word: Text", "var tries: Int = 7\n  var word: Text")],
                Loads("waiting tries=7"),
            ),
        ),
    ),
    tells(
        &["the variable `count` is gone with its value"],
        row(
            "a variable that is gone",
            Apart,
            &[
                ("var count: Int = 0\n", ""),
                ("after 10m { count = count + 1 }", ""),
                ("code before { count = count + 1 }", ""),
                ("code behind { count = count + 10 }", ""),
                ("code last { count = count + 100 } ->", "code last { word = \"x\" } ->"),
            ],
            Loads("apart.left.a,apart.right.c"),
        ),
    ),
    of(
        "most",
        row(
            "the default of a param",
            Waiting,
            &[("most: Int = 3", "most: Int = 9")],
            Loads("waiting most=3"),
        ),
    ),
    of(
        "said",
        row(
            "a type that becomes optional",
            Waiting,
            &[("var said: Text =", "var said: Text? =")],
            Loads("waiting said=\"\""),
        ),
    ),
    of(
        "plan",
        row(
            "a field that is optional",
            Waiting,
            &[("note: Text?", "note: Text?  more: Int?")],
            Loads("waiting plan={\"title\":\"t\",\"size\":1,\"note\":null,\"more\":null}"),
        ),
    ),
    of(
        "mood",
        row(
            "a value of an enum",
            Waiting,
            &[("calm angry", "calm angry glad")],
            Loads("waiting mood=\"calm\""),
        ),
    ),
    row(
        "a step behind the one under way",
        Thinking,
        &[("code last {", "code new { count = count + 1000 }\n      code last {")],
        Loads("work.thought count=1111"),
    ),
    row(
        "a step before the one under way",
        Thinking,
        &[("code before {", "code new { count = count + 1000 }\n      code before {")],
        Loads("work.thought count=111"),
    ),
    row(
        "a step that was to come",
        Thinking,
        &[("code behind { count = count + 10 }\n", "")],
        Loads("work.thought count=101"),
    ),
    row(
        "a step that was passed",
        Thinking,
        &[("code before { count = count + 1 }\n", "")],
        Loads("work.thought count=111"),
    ),
    row(
        "where a line leads",
        Waiting,
        &[("on part -> apart", "on part -> soon")],
        Loads("soon count=0"),
    )
    .then_sends(&["part"]),
    after(
        54,
        row(
            "a deadline that was armed keeps its moment",
            Waiting,
            &[("after 1h -> late", "after 50h -> late")],
            Loads("waiting count=1"),
        ),
    ),
    after(
        55,
        row(
            "and comes at it",
            Waiting,
            &[("after 1h -> late", "after 50h -> late")],
            Loads("late count=1"),
        ),
    ),
    after(
        9,
        tells(
            &["a new line `after` of `waiting` counts from its beginning"],
            row(
                "a new deadline counts from the entry",
                Waiting,
                &[("after 1h -> late", "after 15m -> soon\n    after 1h -> late")],
                Loads("waiting count=1"),
            ),
        ),
    ),
    after(
        10,
        tells(
            &["a new line `after` of `waiting` counts from its beginning"],
            row(
                "and comes then",
                Waiting,
                &[("after 1h -> late", "after 15m -> soon\n    after 1h -> late")],
                Loads("soon count=1"),
            ),
        ),
    ),
    after(
        55,
        tells(
            &["a new line `after` of `waiting` counts from its beginning"],
            row(
                "a new deadline before another one",
                Waiting,
                &[("after 10m {", "after 70m -> soon\n    after 10m {")],
                Loads("late count=1"),
            ),
        ),
    ),
    after(
        30,
        row(
            "a deadline that has passed does not come again",
            LongWaiting,
            &[("after 10m { count = count + 1 }", "after 9m { count = count + 1 }")],
            Loads("waiting count=1"),
        ),
    ),
    after(
        600,
        tells(
            &["a line `after` of `waiting` is gone before it came due"],
            row(
                "a deadline that is gone",
                Waiting,
                &[("after 1h -> late", "")],
                Loads("waiting count=1"),
            ),
        ),
    ),
    after(
        0,
        tells(
            &["a new line `timeout` of `think` of `work.thinking` counts from its beginning"],
            row(
                "a timeout counts from the step's start",
                Thinking,
                &[("timeout 30m -> late", "timeout 30m -> late\n      timeout 20m -> soon")],
                Loads("work.thought count=111"),
            ),
        ),
    ),
];
