//! A Redis server as a process, which can be killed, and what tests ask of it.

use redis::{Client, Cmd, Connection, FromRedisValue, RedisResult, cmd};
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take that has no time of its own.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// The group of all tests.
pub(crate) const GROUP: &str = "agents";

/// A process that ends with its test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A server with a folder of its own.
pub(crate) struct Server {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    arguments: Vec<String>,
    process: Option<Process>,
}

impl Server {
    /// Starts one; without a program it says so, and there is none.
    pub(crate) fn start(test: &str, arguments: &[&str]) -> Option<Self> {
        let program = std::env::var_os("REDIS_SERVER").unwrap_or("redis-server".into());
        let found = Command::new(&program).arg("--version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            println!("skipped, not found: redis-server");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("redis-{test}"));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        let mut server = Self { program: program.into(), folder, port, arguments, process: None };
        server.begin();
        Some(server)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts it, also again, and waits until it answers.
    pub(crate) fn begin(&mut self) {
        let log = File::options().create(true).append(true).open(self.folder.join("log"));
        let child = Command::new(&self.program)
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string(), "--save", ""])
            .args(["--appendonly", "yes", "--appendfsync", "always", "--dir"])
            .arg(&self.folder)
            .args(&self.arguments)
            .stdout(log.expect("a log"))
            .spawn();
        self.process = Some(Process(child.expect("the server starts")));
        until("the server answers", || {
            let Ok(mut connection) = self.connect() else { return false };
            let said: RedisResult<String> = cmd("PING").query(&mut connection);
            // Whoever asks for a password is there.
            said.map_or_else(|why| why.code() == Some("NOAUTH"), |said| said == "PONG")
        });
    }

    /// Ends it at once, as by `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    pub(crate) fn connect(&self) -> RedisResult<Connection> {
        Client::open(self.url())?.get_connection()
    }

    /// Asks something that has to work.
    pub(crate) fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        command.query(&mut self.connect().expect("a connection")).expect("it works")
    }

    /// Adds an entry.
    pub(crate) fn add(&self, stream: &str, fields: &[(&str, &str)]) -> String {
        self.ask(cmd("XADD").arg(stream).arg("*").arg(fields))
    }

    pub(crate) fn pending(&self, stream: &str) -> u64 {
        let (count, ..): (u64, redis::Value, redis::Value, redis::Value) =
            self.ask(cmd("XPENDING").arg(stream).arg(GROUP));
        count
    }

    /// How many entries of a stream were neither delivered nor done.
    fn behind(&self, stream: &str) -> bool {
        let groups: RedisResult<Vec<std::collections::BTreeMap<String, redis::Value>>> =
            cmd("XINFO").arg("GROUPS").arg(stream).query(&mut self.connect().expect("it is there"));
        let Ok(groups) = groups else { return true };
        let lag = groups.first().and_then(|group| group.get("lag"));
        lag != Some(&redis::Value::Int(0)) || self.pending(stream) > 0
    }

    /// Waits until a stream has nothing left that is not acknowledged.
    pub(crate) async fn drained(&self, stream: &str) {
        until_async(&format!("{stream} is read"), || !self.behind(stream)).await;
    }
}

pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < limit, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) async fn until_async(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < limit, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
