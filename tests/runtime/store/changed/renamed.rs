//! States, steps and variables with a new name.

use super::table::Outcome::Loads;
use super::table::Where::{Apart, Handing, Thinking, Waiting};
use super::table::{Row, after, of, row, tells};

pub(super) const ROWS: &[Row] = &[
    tells(
        &["the state `waiting` is `idle` now"],
        after(
            55,
            row(
                "a state that is active",
                Waiting,
                &[(
                    "initial waiting\n  state waiting {",
                    "initial idle\n  state idle renamed_from waiting {",
                )],
                Loads("late count=1"),
            ),
        ),
    ),
    tells(
        &["the state `work` is `job` now", "the state `work.thinking` is `job.thinking` now"],
        row(
            "a state above an active one",
            Thinking,
            &[
                ("on go -> work.thinking", "on go -> job.thinking"),
                ("state work {", "state job renamed_from work {"),
            ],
            Loads("job.thought count=111"),
        ),
    ),
    tells(
        &["the state `work` is `job` now", "the state `work.thinking` is `job.musing` now"],
        row(
            "both",
            Thinking,
            &[
                ("on go -> work.thinking", "on go -> job.musing"),
                ("state work {", "state job renamed_from work {"),
                (
                    "initial thinking\n    state thinking {",
                    "initial musing\n    state musing renamed_from dreaming, thinking {",
                ),
            ],
            Loads("job.thought count=111"),
        ),
    ),
    tells(
        &[
            "the state `apart.left` is `apart.west` now",
            "the state `apart.left.a` is `apart.west.a` now",
        ],
        row(
            "a region",
            Apart,
            &[("state left {", "state west renamed_from left {")],
            Loads("apart.west.b,apart.right.d count=0"),
        )
        .then_sends(&["rest"]),
    ),
    tells(
        &["the variable `word` is `topic` now"],
        of(
            "topic",
            row(
                "a variable",
                Waiting,
                &[
                    ("var word: Text", "var topic renamed_from word: Text"),
                    ("Part(word)", "Part(topic)"),
                    ("{word}", "{topic}"),
                    ("{ word = text }", "{ topic = text }"),
                ],
                Loads("waiting topic=\"owls\""),
            ),
        ),
    ),
    tells(
        &["the variable `most` is `bound` now"],
        of(
            "bound",
            row(
                "a param",
                Waiting,
                &[
                    ("param most: Int = 3", "param bound renamed_from most: Int"),
                    ("{most}", "{bound}"),
                ],
                Loads("waiting bound=3"),
            ),
        ),
    ),
    tells(
        &["the step `think` is `muse` now"],
        of(
            "said",
            row(
                "a step that is under way",
                Thinking,
                &[("llm think {", "llm muse renamed_from think {")],
                Loads("work.thought said=\"kept\""),
            ),
        ),
    ),
    tells(
        &["the chart `Work` is `Job` now"],
        row(
            "the chart",
            Waiting,
            &[("chart Work {", "chart Job renamed_from Work {")],
            Loads("waiting count=0"),
        ),
    ),
    tells(
        &["in `Part`: the chart `Part` is `Piece` now"],
        row(
            "a chart that is run",
            Handing,
            &[
                ("chart Part {", "chart Piece renamed_from Whole, Part {"),
                ("run part Part(word)", "run part Piece(word)"),
            ],
            Loads("handed count=0"),
        ),
    ),
    tells(
        &["in `Part`: the state `reading` is `studying` now"],
        row(
            "a state of a chart that is run",
            Handing,
            &[(
                "initial reading\n  state reading {",
                "initial studying\n  state studying renamed_from reading {",
            )],
            Loads("handed count=0"),
        ),
    ),
];
