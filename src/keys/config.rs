//! The keys of `chartc.toml`.

use chartc_text::keys::{Key, Mapping, Shape, Word};

/// The words of `fail-on`.
pub const BARS: &[Word] = &[
    Word::new("error", "Only errors make a check fail."),
    Word::new("warning", "Errors and warnings do."),
    Word::new("note", "Everything that is reported does."),
];

/// The whole file.
pub static CONFIG: Mapping = Mapping::new(
    "config",
    "What a project sets for all commands. A file has the settings of the nearest `chartc.toml`, in its folder or above. Options of a command count more.",
    &[
        Key::new("check", Shape::Mapping(&CHECK), "What is checked, and when a check fails."),
        Key::new(
            "lints",
            Shape::Levels,
            "The level of each rule, by its name or code: `allow`, `warn` or `deny`. `warnings` is all of them.",
        ),
        Key::new(
            "per-path",
            Shape::by_name(&Shape::Levels),
            "Levels for the files that a pattern matches, such as `[per-path.\"legacy/**\"]`. Later tables count more than earlier ones. A pattern that begins with `!` is for all other files.",
        ),
    ],
);

/// The table `[check]` of [`CONFIG`].
pub static CHECK: Mapping = Mapping::new(
    "check",
    "What is checked, and when a check fails.",
    &[
        Key::new(
            "fail-on",
            Shape::Words(BARS),
            "The lowest level that makes a check fail, as `--fail-on`.",
        )
        .default("\"error\""),
        Key::new(
            "explore",
            Shape::from(0),
            "How many states to explore for a `check` line, as `--explore`.",
        )
        .default("2000"),
        Key::new("tests", Shape::Flag, "Whether tests are played; `false` is `--no-tests`.")
            .default("true"),
        Key::new(
            "exclude",
            Shape::list(&Shape::Text),
            "What is left out of folders that are searched: patterns as in a `.gitignore`, such as `vendor/`.",
        ),
    ],
);
