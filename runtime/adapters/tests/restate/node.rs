//! A Restate server and a service as processes, which can be killed.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take that has no time of its own.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A port that is free now.
pub(crate) fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// The server's program, or why there is none.
fn program() -> Result<PathBuf, String> {
    let found =
        Command::new(root().join("runtime/deploy/restate/server")).arg("--installed").output();
    let found = found.map_err(|why| why.to_string())?;
    if !found.status.success() {
        return Err(String::from_utf8_lossy(&found.stderr).trim().to_owned());
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&found.stdout).trim()))
}

/// A process that ends with its test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A server of one node.
pub(crate) struct Node {
    program: PathBuf,
    folder: PathBuf,
    ports: [u16; 3],
    process: Option<Process>,
}

impl Node {
    /// Starts one with a folder of its own; without a server it says so, and there is none.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let program = match program() {
            Ok(program) => program,
            Err(why) => {
                println!("skipped, no Restate server: {why}");
                return None;
            }
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut node = Self { program, folder, ports: [port(), port(), port()], process: None };
        node.begin();
        Some(node)
    }

    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    pub(crate) fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts it, also again, and waits until it answers.
    pub(crate) fn begin(&mut self) {
        let [ingress, admin, fabric] = self.ports.map(|port| format!("127.0.0.1:{port}"));
        let log = File::options().create(true).append(true).open(self.folder.join("log"));
        let log = log.expect("a log");
        let child = Command::new(&self.program)
            .arg("--config-file")
            .arg(root().join("runtime/deploy/restate/one.toml"))
            .arg("--base-dir")
            .arg(self.folder.join("data"))
            .arg("--no-logo")
            .env("RESTATE_INGRESS__BIND_ADDRESS", ingress)
            .env("RESTATE_ADMIN__BIND_ADDRESS", &admin)
            .env("RESTATE_BIND_ADDRESS", fabric)
            .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256 MiB")
            .env("RESTATE_LOG_DISABLE_ANSI_CODES", "true")
            .stdout(log.try_clone().expect("a handle"))
            .stderr(log)
            .spawn();
        self.process = Some(Process(child.expect("the server starts")));
        let until = Instant::now() + PATIENCE;
        while !is_healthy(&admin) || !is_healthy(&format!("127.0.0.1:{}", self.ports[0])) {
            assert!(Instant::now() < until, "no answer: see {}", self.folder.join("log").display());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it at once, as by `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }
}

/// Whether `GET /restate/health` or `/health` is answered well.
fn is_healthy(address: &str) -> bool {
    use std::io::{Read, Write};
    let asked = |path: &str| -> std::io::Result<bool> {
        let mut stream = std::net::TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text.starts_with("HTTP/1.1 200"))
    };
    asked("/health").unwrap_or(false) || asked("/restate/health").unwrap_or(false)
}

/// The example `serve` with arguments.
pub(crate) struct Serving {
    arguments: Vec<String>,
    port: u16,
    process: Option<Process>,
}

impl Serving {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "-q",
                "-p",
                "chartc-adapters",
                "--features",
                "restate",
                "--example",
                "serve",
                "--locked",
            ])
            .current_dir(root())
            .status();
        assert!(built.expect("cargo runs").success(), "the example is built");
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        let mut serving = Self { arguments, port: port(), process: None };
        serving.begin();
        serving
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts it, also again, and waits until it listens.
    pub(crate) fn begin(&mut self) {
        let own = std::env::current_exe().expect("a path");
        let program = own.ancestors().nth(2).expect("a folder").join("examples/serve");
        let mut child = Command::new(program)
            .args(&self.arguments)
            .args(["--listen", &format!("127.0.0.1:{}", self.port)])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let out = child.stdout.take().expect("its output");
        self.process = Some(Process(child));
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("a line");
        assert!(line.starts_with("listening"), "{line}");
    }

    /// Ends it at once, as by `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }
}
