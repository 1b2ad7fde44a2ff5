//! Which modules of each crate may name which. From top to bottom: a row names modules above it.

use crate::imports::{arrows, cycle, directions};

/// A module, with those of its siblings that it may name.
type Row = (&'static str, &'static [&'static str]);

const TEXT: &[Row] = &[
    ("span", &[]),
    ("source", &["span"]),
    ("fix", &["source", "span"]),
    ("diagnostic", &["fix", "span"]),
    ("syntax", &["span"]),
    ("rules", &["diagnostic", "span"]),
    ("confusables", &["diagnostic", "rules", "source", "span", "syntax"]),
    ("keys", &[]),
    ("front", &["diagnostic", "keys", "rules", "source", "span", "syntax"]),
    ("load", &["diagnostic", "front", "rules", "source", "span", "syntax"]),
    ("print", &["span", "syntax"]),
];
const CHECK: &[Row] = &[
    ("allow", &[]),
    ("notation", &[]),
    ("lower", &["notation"]),
    ("spelling", &[]),
    ("facts", &[]),
    ("turn", &["facts"]),
    ("explore", &["facts", "turn"]),
    ("lint", &["explore", "facts", "lower", "notation", "spelling", "turn"]),
    ("compile", &["allow", "explore", "facts", "lint", "lower", "turn"]),
    ("fix", &["compile"]),
];
const EMIT: &[Row] = &[
    ("picture", &[]),
    ("dot", &["picture"]),
    ("mermaid", &["picture"]),
    ("outline", &["picture"]),
    ("rust", &[]),
];
/// Nothing but the command names what is in `cli`.
const COMMAND: &[Row] = &[
    ("costs", &[]),
    ("disk", &[]),
    ("report", &[]),
    ("scenario", &[]),
    ("chart_compiler", &[]),
    ("keys", &[]),
    ("editor", &["costs", "keys", "scenario"]),
    ("build", &["disk", "report"]),
    ("cli", &["costs", "disk", "editor", "keys", "report", "scenario", "chart_compiler"]),
    ("main", &["cli"]),
];
const CORE: &[Row] = &[
    ("arena", &[]),
    ("duration", &[]),
    ("form", &[]),
    ("status", &[]),
    ("value", &[]),
    ("visible", &[]),
    ("caller", &["arena"]),
    ("forward", &["arena"]),
    ("lost", &[]),
    ("structure", &["arena"]),
    ("machine", &["arena", "forward", "status"]),
    ("model", &["arena", "form", "forward", "lost", "machine", "status", "structure", "value"]),
    ("ops", &["machine"]),
    ("tables", &["arena", "form", "forward", "lost", "machine", "structure"]),
    ("store", &["arena", "machine", "tables"]),
    ("expr", &["arena", "duration", "machine", "model", "ops", "store", "value"]),
    ("outbox", &["arena", "machine", "store"]),
    ("calls", &["arena", "caller", "expr", "tables"]),
    ("program", &["arena", "caller", "machine", "outbox", "store", "tables"]),
    ("semantics", &["arena", "machine", "outbox", "program", "store", "structure", "tables"]),
    ("saved", &["arena", "caller", "calls", "expr", "machine", "semantics", "tables", "value"]),
    ("host", &["arena", "machine", "saved", "store", "tables", "value"]),
    ("family", &["arena", "expr", "host", "machine", "saved", "tables"]),
    ("wording", &["arena", "program", "tables"]),
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
            "store",
            "tables",
            "wording",
        ],
    ),
    ("plan", &["arena", "expr", "form", "machine", "model", "semantics", "structure", "tables"]),
    (
        "interpreter",
        &[
            "arena",
            "calls",
            "expr",
            "family",
            "host",
            "machine",
            "model",
            "outbox",
            "plan",
            "program",
            "saved",
            "semantics",
            "store",
            "tables",
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
    ("trace", &[]),
    ("error", &["call", "memory"]),
    ("host", &["trace"]),
    ("tools", &["call"]),
    ("data", &["error"]),
    ("oracle", &["budget", "call", "clock", "form", "schema", "tools"]),
    ("answer", &["oracle", "schema"]),
    ("driver", &["oracle", "tools"]),
    ("executor", &["answer", "budget", "form", "oracle"]),
    ("world", &["answer", "form", "oracle", "schema"]),
    (
        "session",
        &[
            "budget", "clock", "data", "driver", "error", "executor", "form", "host", "oracle",
            "tools", "trace", "world",
        ],
    ),
    ("agents", &["clock", "error", "oracle", "session", "trace"]),
    (
        "stepped",
        &["agents", "budget", "clock", "driver", "error", "oracle", "session", "tools", "trace"],
    ),
    ("play", &["data", "error", "session", "trace"]),
    (
        "replay",
        &["budget", "clock", "driver", "error", "host", "oracle", "session", "tools", "trace"],
    ),
    ("simulate", &["clock", "data", "error", "session", "trace"]),
    (
        "agent",
        &["agents", "data", "error", "memory", "oracle", "play", "session", "trace", "world"],
    ),
];
const MEMORY: &[Row] = &[("agent", &[]), ("fault", &[]), ("open", &["fault"])];
const STORE: &[Row] = &[
    ("row", &[]),
    ("options", &[]),
    ("kind", &[]),
    ("error", &["kind"]),
    ("file", &["error", "kind"]),
    ("command", &["error", "file"]),
    ("rows", &["file", "row"]),
    ("read", &["error", "file", "row", "rows"]),
    ("inbox", &["error", "file", "row", "rows"]),
    ("reply", &["command", "error", "file", "row"]),
    ("look", &["error", "file", "inbox", "read", "row"]),
    ("care", &["error", "file", "read", "row"]),
    ("fork", &["error", "file", "read", "row", "rows"]),
    ("engine", &["command", "error", "file"]),
    ("run", &["error", "look", "row", "rows"]),
    ("worker", &["command", "engine", "error", "file", "inbox", "options", "read", "row", "run"]),
    ("broken", &["error", "file", "row", "rows", "worker"]),
    (
        "commit",
        &["command", "error", "file", "inbox", "options", "reply", "row", "rows", "run", "worker"],
    ),
    ("world", &["error", "file", "kind", "row", "rows"]),
];
const RESTATE: &[Row] = &[
    ("error", &[]),
    ("kept", &[]),
    ("wire", &[]),
    ("client", &["error", "wire"]),
    ("calls_under_way", &["wire"]),
    ("step", &["kept", "wire"]),
    ("agent", &["kept", "step", "wire"]),
    ("serve", &["agent", "calls_under_way", "step"]),
];
const SERVE: &[Row] = &[
    ("token", &[]),
    ("refusal", &[]),
    ("feed", &[]),
    ("offer", &[]),
    ("guard", &["token"]),
    ("drive", &["feed"]),
    ("runs", &["drive", "feed", "offer", "refusal", "token"]),
    ("mcp", &["offer", "refusal", "runs"]),
    ("http", &["guard", "mcp", "offer", "refusal", "runs"]),
];
const OTEL: &[Row] = &[("names", &[]), ("call", &["names"]), ("run", &["call", "names"])];
const REDIS: &[Row] = &[
    ("error", &[]),
    ("entry", &[]),
    ("notice", &[]),
    ("delivery", &["entry"]),
    ("queues", &["entry"]),
    ("options", &["error"]),
    ("link", &["entry", "error", "options"]),
    ("shard", &["entry", "queues"]),
    ("session", &["entry", "delivery", "link", "notice", "options", "shard"]),
    ("results", &["entry", "delivery", "notice", "session"]),
    ("intake", &["error", "link", "notice", "options", "session"]),
];
const WORLD: &[Row] = &[
    ("cascade", &[]),
    ("census", &[]),
    ("chance", &[]),
    ("settings", &[]),
    ("ledger", &[]),
    ("workshop", &[]),
    ("config", &[]),
    ("rates", &["config"]),
    ("gate", &["config", "rates"]),
    ("artifact", &["workshop"]),
    ("chain", &[]),
    ("invoke", &["chain", "workshop"]),
    ("params", &[]),
    ("method", &["chain", "invoke", "params", "workshop"]),
    ("keep", &[]),
    ("request", &["workshop"]),
    ("restrict", &["workshop"]),
    ("state", &["artifact", "ledger", "request", "settings", "workshop"]),
    ("bids", &["ledger", "state"]),
    ("genesis", &["artifact", "bids", "ledger", "params", "request", "restrict", "state"]),
    (
        "world",
        &[
            "artifact", "chain", "genesis", "invoke", "ledger", "request", "settings", "state",
            "workshop",
        ],
    ),
    ("auction", &["bids", "world"]),
    ("memory", &["artifact", "world"]),
    (
        "engine",
        &["census", "chance", "config", "gate", "keep", "rates", "request", "state", "world"],
    ),
];
const PROVIDERS: &[Row] = &[
    ("date", &[]),
    ("schema", &[]),
    ("body", &[]),
    ("form", &["schema"]),
    ("wire", &["form", "schema"]),
    ("known", &["wire"]),
    ("fault", &["date"]),
    ("answer", &["body", "fault", "form", "wire"]),
    ("models", &["fault"]),
    ("cure", &["known"]),
    ("server", &["answer", "body", "cure", "fault", "form", "known", "models", "wire"]),
];
const MCP: &[Row] = &[
    ("fault", &[]),
    ("holes", &[]),
    ("listing", &[]),
    ("shape", &[]),
    ("waiting", &[]),
    ("config", &["holes"]),
    ("view", &["config", "fault"]),
    ("process", &["config", "fault"]),
    ("wire", &["fault"]),
    ("reach", &["fault", "wire"]),
    ("result", &["fault", "shape"]),
    ("command", &["config", "fault", "holes", "process", "result"]),
    ("endpoint", &["config", "fault", "holes", "result"]),
    ("declare", &["fault", "listing", "shape", "view"]),
    ("link", &["config", "fault", "listing", "process", "reach", "waiting", "wire"]),
    ("server", &["config", "fault", "link", "listing", "process", "result", "shape"]),
    ("check", &["config", "fault", "holes", "listing", "server", "shape"]),
    (
        "pool",
        &[
            "check", "command", "config", "declare", "endpoint", "fault", "process", "reach",
            "result", "server", "view",
        ],
    ),
];

const CRATES: &[(&str, &[Row])] = &[
    ("compiler/text/src", TEXT),
    ("compiler/check/src", CHECK),
    ("compiler/emit/src", EMIT),
    ("src", COMMAND),
    ("runtime/core/src", CORE),
    ("runtime/src", RUNTIME),
    ("runtime/mcp/src", MCP),
    ("runtime/memory/src", MEMORY),
    ("runtime/providers/src", PROVIDERS),
    ("runtime/store/src", STORE),
    ("runtime/restate/src", RESTATE),
    ("runtime/serve/src", SERVE),
    ("runtime/otel/src", OTEL),
    ("runtime/redis/src", REDIS),
    ("runtime/world/src", WORLD),
];

#[test]
fn modules_name_only_those_of_their_rows() {
    for (folder, table) in CRATES {
        directions(folder, table);
    }
}

#[test]
fn modules_form_no_cycle() {
    for (folder, _) in CRATES {
        let found = cycle(&arrows(folder));
        assert!(found.is_empty(), "{folder}: {}", found.join(" → "));
    }
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
