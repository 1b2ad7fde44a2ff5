//! Which modules of each crate may name which. From top to bottom: a row names modules above it.

use crate::imports::{arrows, arrows_up, cycle, directions, file_cycles};

/// A module, with those of its siblings that it may name.
type Row = (&'static str, &'static [&'static str]);

const COMPILER: &[Row] = &[
    ("build", &[]),
    ("analysis", &[]),
    ("notation", &[]),
    ("spelling", &[]),
    ("syntax", &[]),
    ("explore", &["analysis"]),
    ("rules", &["syntax"]),
    ("allow", &["rules", "syntax"]),
    ("confusables", &["rules", "syntax"]),
    ("front", &["rules", "syntax"]),
    ("lower", &["front", "notation", "rules", "syntax"]),
    ("lint", &["analysis", "explore", "front", "lower", "notation", "rules", "spelling", "syntax"]),
    (
        "compile",
        &[
            "allow",
            "analysis",
            "confusables",
            "explore",
            "front",
            "lint",
            "lower",
            "rules",
            "syntax",
        ],
    ),
    ("emit", &["compile", "lint", "lower", "notation", "rules", "spelling", "syntax"]),
    ("fix", &["compile", "front", "syntax"]),
];
/// Nothing but the command names what is in `cli`.
const COMMAND: &[Row] = &[
    ("chart_compiler", &[]),
    ("costs", &[]),
    ("disk", &[]),
    ("keys", &[]),
    ("report", &[]),
    ("scenario", &[]),
    ("setup", &["disk"]),
    ("build", &["disk", "report"]),
    ("ide", &["costs", "keys"]),
    ("cli", &["chart_compiler", "costs", "disk", "ide", "keys", "report", "scenario", "setup"]),
    ("main", &["cli"]),
];
const CORE: &[Row] = &[
    ("arena", &[]),
    ("duration", &[]),
    ("failure", &[]),
    ("form", &[]),
    ("status", &[]),
    ("value", &[]),
    ("visible", &[]),
    ("caller", &["arena"]),
    ("forward", &["arena"]),
    ("structure", &["arena"]),
    ("machine", &["arena", "forward", "status"]),
    ("model", &["arena", "form", "forward", "failure", "machine", "status", "structure", "value"]),
    ("ops", &["machine"]),
    ("tables", &["arena", "form", "forward", "failure", "machine", "status", "structure"]),
    ("store", &["arena", "forward", "machine", "tables"]),
    ("expr", &["arena", "duration", "machine", "model", "ops", "store", "value"]),
    ("outbox", &["arena", "forward", "machine", "store"]),
    ("calls", &["arena", "caller", "expr", "tables", "value"]),
    ("program", &["arena", "caller", "forward", "machine", "outbox", "store", "tables"]),
    (
        "semantics",
        &[
            "arena",
            "caller",
            "forward",
            "failure",
            "machine",
            "outbox",
            "program",
            "status",
            "store",
            "structure",
            "tables",
        ],
    ),
    ("wording", &["arena", "program", "tables"]),
    (
        "plan",
        &[
            "arena",
            "expr",
            "form",
            "forward",
            "failure",
            "machine",
            "model",
            "semantics",
            "status",
            "structure",
            "tables",
            "value",
        ],
    ),
    ("saved", &["arena", "caller", "calls", "expr", "machine", "semantics", "tables", "value"]),
    ("host", &["arena", "forward", "machine", "saved", "store", "tables", "value"]),
    (
        "family",
        &["arena", "expr", "forward", "host", "machine", "saved", "status", "tables", "value"],
    ),
    (
        "generated",
        &[
            "arena",
            "calls",
            "duration",
            "expr",
            "family",
            "host",
            "machine",
            "model",
            "ops",
            "program",
            "saved",
            "semantics",
            "status",
            "store",
            "tables",
            "value",
            "wording",
        ],
    ),
    (
        "interpreter",
        &[
            "arena",
            "caller",
            "calls",
            "expr",
            "family",
            "forward",
            "host",
            "machine",
            "model",
            "outbox",
            "plan",
            "program",
            "saved",
            "semantics",
            "status",
            "store",
            "tables",
            "value",
            "wording",
        ],
    ),
];
const RUNTIME: &[Row] = &[
    ("budget", &[]),
    ("call", &[]),
    ("clock", &[]),
    ("form", &[]),
    ("memory", &[]),
    ("schema", &[]),
    ("settings", &["budget"]),
    ("trace", &[]),
    ("error", &["call", "memory"]),
    ("host", &["trace"]),
    ("tools", &["call"]),
    ("data", &["error"]),
    ("oracle", &["budget", "call", "clock", "form", "schema", "tools"]),
    ("answer", &["oracle", "schema"]),
    ("driver", &["call", "oracle", "tools"]),
    ("journal", &["budget", "driver", "oracle", "tools"]),
    ("cassette", &["budget", "clock", "driver", "journal", "oracle"]),
    ("world", &["oracle", "settings"]),
    ("executor", &["answer", "budget", "form", "oracle", "settings"]),
    (
        "session",
        &[
            "budget", "call", "clock", "data", "driver", "error", "executor", "form", "host",
            "oracle", "settings", "tools", "trace", "world",
        ],
    ),
    ("agents", &["clock", "error", "oracle", "session", "trace"]),
    ("play", &["data", "error", "session", "trace"]),
    (
        "replay",
        &[
            "budget", "call", "clock", "driver", "error", "host", "journal", "oracle", "session",
            "settings", "trace",
        ],
    ),
    ("setup", &["clock", "driver", "host", "oracle", "session", "trace"]),
    ("simulate", &["clock", "data", "error", "session", "trace"]),
    (
        "agent",
        &[
            "agents", "data", "error", "memory", "oracle", "play", "session", "settings", "trace",
            "world",
        ],
    ),
    ("stepped", &["agents", "clock", "driver", "error", "journal", "oracle", "session", "trace"]),
];
const STORE: &[Row] = &[
    ("backlog", &[]),
    ("kind", &[]),
    ("memory", &["file"]),
    ("error", &["kind"]),
    ("file", &["error", "kind"]),
    ("command", &["error", "file"]),
    ("engine", &["command", "error", "file"]),
    ("rows", &["command", "error", "file"]),
    ("read", &["error", "file", "rows"]),
    ("care", &["error", "file", "read", "rows"]),
    ("worker", &["backlog", "command", "engine", "error", "file", "read", "rows"]),
    ("commit", &["command", "error", "file", "rows", "worker"]),
];
const WORLD: &[Row] = &[
    ("census", &[]),
    ("charts", &[]),
    ("config", &[]),
    ("keep", &[]),
    ("ledger", &[]),
    ("store", &["keep"]),
    ("artifact", &["charts"]),
    ("rates", &["config"]),
    ("request", &["charts"]),
    ("gate", &["config", "rates"]),
    ("state", &["artifact", "census", "charts", "config", "ledger", "request"]),
    ("record", &["artifact", "charts", "state"]),
    ("cascade", &["state"]),
    ("bids", &["config", "ledger", "state"]),
    ("genesis", &["artifact", "bids", "census", "charts", "ledger", "record", "request", "state"]),
    (
        "world",
        &[
            "artifact", "bids", "census", "charts", "config", "genesis", "ledger", "record",
            "request", "state",
        ],
    ),
    ("engine", &["census", "config", "gate", "keep", "rates", "request", "state", "world"]),
    ("factory", &["bids", "charts", "config", "engine", "gate", "keep", "request", "world"]),
];
const ADAPTERS: &[Row] = &[
    ("models", &["web"]),
    ("redis", &[]),
    ("restate", &[]),
    ("server", &[]),
    ("telemetry", &[]),
    ("tools", &["web"]),
    ("web", &[]),
];

const CRATES: &[(&str, &[Row])] = &[
    ("src/compiler", COMPILER),
    ("src", COMMAND),
    ("runtime/core/src", CORE),
    ("runtime/src", RUNTIME),
    ("runtime/store/src", STORE),
    ("runtime/world/src", WORLD),
    ("runtime/adapters/src", ADAPTERS),
];

#[test]
fn modules_name_only_those_of_their_rows() {
    let faults: Vec<String> =
        CRATES.iter().flat_map(|(folder, table)| directions(folder, table)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn modules_form_no_cycle() {
    for (folder, _) in CRATES {
        let found = cycle(&arrows(folder));
        assert!(found.is_empty(), "{folder}: {}", found.join(" → "));
    }
}

/// Groups of files that import each other, at most. The bound may only shrink.
const FILE_CYCLES: usize = 0;

#[test]
fn files_import_each_other_no_more_than_they_may() {
    let cycles: Vec<String> = (CRATES.iter())
        .flat_map(|(folder, _)| file_cycles(folder).into_iter().map(move |c| (folder, c)))
        .map(|(folder, cycle)| format!("{folder}: {}", cycle.join(", ")))
        .collect();
    assert_eq!(cycles.len(), FILE_CYCLES, "files import each other:\n{}", cycles.join("\n"));
}

/// The maximum number of imports that run from a file of the command to a module above it. It may only shrink.
const ARROWS_UP: usize = 11;

#[test]
fn files_of_the_command_name_few_things_above_them() {
    let found = arrows_up("src");
    assert!(found.len() <= ARROWS_UP, "{} arrows run up:\n{found:#?}", found.len());
}

#[test]
fn a_cycle_is_found() {
    let arrows = |pairs: &[(&str, &[&str])]| {
        let set = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        pairs.iter().map(|(from, to)| ((*from).to_string(), set(to))).collect()
    };
    let chain = arrows(&[("a", &["b", "c"]), ("b", &["c"])]);
    assert_eq!(cycle(&chain), [""; 0]);
    let round = arrows(&[("a", &["b"]), ("b", &["c"]), ("c", &["d", "b"])]);
    assert_eq!(cycle(&round), ["b", "c", "b"]);
}
