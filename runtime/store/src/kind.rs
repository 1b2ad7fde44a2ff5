//! The two kinds of store, and their tables.

/// The kind of content of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Separate runs.
    Runs,
    /// A world with many agents.
    World,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Runs, Self::World];

    /// The value of `format` in the table `meta`.
    pub(crate) const fn format(self) -> &'static str {
        match self {
            Self::Runs => "chartc store",
            Self::World => "chartc world",
        }
    }

    pub(crate) fn of(format: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.format() == format)
    }

    /// The kind in words, for messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Runs => "single runs",
            Self::World => "a world of agents",
        }
    }

    /// The SQL that creates the tables. Tables with long rows have row ids: without them, SQLite keeps only a quarter of a page of each
    /// row in the tree, and the rest on overflow pages.
    pub(crate) const fn tables(self) -> &'static str {
        match self {
            Self::Runs => RUNS,
            Self::World => WORLD,
        }
    }
}

impl Kind {
    /// The SQL that creates the indexes, unless they exist. The runs that have not ended are found and counted without reading the others.
    pub(crate) const fn indexes(self) -> &'static str {
        match self {
            Self::Runs => {
                "CREATE INDEX IF NOT EXISTS unfinished ON run (name) WHERE status = 'running';"
            }
            Self::World => "",
        }
    }
}

const RUNS: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE run (
        name TEXT PRIMARY KEY,
        chart TEXT NOT NULL,
        given TEXT NOT NULL,
        status TEXT NOT NULL,
        stopped TEXT,
        state TEXT NOT NULL,
        turns INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        cost INTEGER NOT NULL,
        waits_for TEXT NOT NULL,
        wake INTEGER,
        now INTEGER NOT NULL,
        made_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL,
        saved TEXT NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE TABLE event (
        run TEXT NOT NULL,
        id TEXT NOT NULL,
        reply TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        sum INTEGER NOT NULL,
        PRIMARY KEY (run, id)
    ) WITHOUT ROWID;
    CREATE TABLE line (
        run TEXT NOT NULL,
        seq INTEGER NOT NULL,
        text TEXT NOT NULL,
        sum INTEGER NOT NULL,
        PRIMARY KEY (run, seq)
    );
    CREATE TABLE call (
        run TEXT NOT NULL,
        id TEXT NOT NULL,
        stage TEXT NOT NULL,
        call TEXT NOT NULL,
        outcome TEXT,
        planned INTEGER NOT NULL,
        sum INTEGER NOT NULL,
        PRIMARY KEY (run, id)
    );
    CREATE TABLE inbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        data TEXT NOT NULL,
        sum INTEGER NOT NULL
    );
";

const WORLD: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE begun (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        given TEXT NOT NULL,
        made_ms INTEGER NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE TABLE checkpoint (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        nth INTEGER NOT NULL,
        number INTEGER NOT NULL,
        now INTEGER NOT NULL,
        lines INTEGER NOT NULL,
        agents INTEGER NOT NULL,
        meta TEXT NOT NULL,
        updated_ms INTEGER NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE TABLE world (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        saved TEXT NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE TABLE agent (
        place INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        saved TEXT NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE TABLE line (
        seq INTEGER PRIMARY KEY,
        text TEXT NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE TABLE call (
        id TEXT PRIMARY KEY,
        question TEXT NOT NULL,
        answer TEXT,
        ended INTEGER,
        sum INTEGER NOT NULL
    );
";
