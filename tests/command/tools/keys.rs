//! Keys of tools: they reach the tool and nothing else.

use crate::run::command::folder;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};

const CHART: &str = r#"
tool web.look(city: Text) -> Text
tool web.gone(city: Text) -> Text
chart Keys {
  var said: Text = ""
  initial looking
  state looking { call look web.look("Rome") { done -> asking { said = look } error -> lost } }
  state asking { call gone web.gone("Rome") { done -> told error -> lost } }
  final told(text: Text = "{said}")
  final lost(text: Text = "{said}")
}
"#;

/// A key with letters that addresses, forms and JSON write differently.
const KEY: &str = "k3y \"<ä>/+&-0123456789";
const TOKEN: &str = "t0ken-9876543210";

/// A server that sends back what it was sent, and what it has seen.
fn echo() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let seen = Arc::new(Mutex::new(String::new()));
    let all = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut text = Vec::new();
            let mut piece = [0; 4096];
            while !text.windows(4).any(|end| end == b"\r\n\r\n") {
                let read = stream.read(&mut piece).expect("it is there");
                if read == 0 {
                    break;
                }
                text.extend_from_slice(&piece[..read]);
            }
            let text = String::from_utf8_lossy(&text).into_owned();
            all.lock().expect("whole").push_str(&text);
            let json = serde_json::json!({"raw": KEY, "head": text}).to_string();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", json.len());
            drop(stream.write_all((head + &json).as_bytes()));
        }
    });
    (address, seen)
}

#[test]
fn a_key_in_an_address_or_a_header_is_never_shown_and_no_proxy_sees_it() {
    let folder = folder("tools-keys");
    let (address, seen) = echo();
    let (proxy, caught) = echo();
    let closed =
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let tools = format!(
        "[tools.\"web.look\"]\nmethod = \"GET\"\nurl = \"http://{address}/{{city}}?key=${{KEY}}\"\nheaders = {{ Authorization = \"Bearer ${{TOKEN}}\" }}\n\
         [tools.\"web.gone\"]\nmethod = \"GET\"\nurl = \"http://{closed}/{{city}}?key=${{KEY}}\"\n"
    );
    std::fs::write(folder.join("tools.toml"), tools).expect("a file");
    std::fs::write(folder.join("keys.chart"), CHART).expect("a file");
    let arguments = "run keys.chart --tools tools.toml --store s.db --run a";
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(arguments.split(' '))
        .current_dir(&folder)
        .env("KEY", KEY)
        .env("TOKEN", TOKEN)
        .env("HTTP_PROXY", format!("http://{proxy}"))
        .env("http_proxy", format!("http://{proxy}"))
        .output()
        .expect("chartc runs");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("web.look returned") && said.contains("web.gone"), "{said}");
    let stored = std::fs::read(folder.join("s.db")).expect("a store");
    let log = std::fs::read(folder.join("s.db-wal")).unwrap_or_default();
    let stored = String::from_utf8_lossy(&[stored, log].concat()).into_owned();
    for (place, text) in [("screen", &said), ("store", &stored)] {
        for part in ["k3y", "-0123456789", "t0ken", "9876543210"] {
            assert!(!text.contains(part), "{part} in the {place}: {text}");
        }
    }
    let seen = seen.lock().expect("whole");
    assert!(seen.contains("k3y") && seen.contains(TOKEN), "the tool got them: {seen}");
    assert_eq!(*caught.lock().expect("whole"), "", "a proxy got what is for this machine");
}

#[test]
fn a_key_that_is_written_out_in_an_address_is_refused() {
    let folder = folder("tools-written");
    std::fs::write(folder.join("keys.chart"), CHART).expect("a file");
    for (url, is_refused) in [
        ("http://x.test/a?key=abcdef123456", true),
        ("http://x.test/a?b=1&access_token=abcdef123456#c", true),
        ("http://user:password@x.test/a", true),
        ("http://x.test/a?keyword=abcdef123456", false),
        ("http://x.test/a?key={city}", false),
        ("http://x.test/a?key=${KEY:-abcdef123456}", false),
    ] {
        let tools = format!("[tools.\"web.look\"]\nurl = \"{url}\"\n");
        std::fs::write(folder.join("tools.toml"), tools).expect("a file");
        let arguments = ["tools", "check", "keys.chart", "--tools", "tools.toml"];
        let (code, out, err) = crate::run::command::chartc(&folder, &arguments);
        let said = format!("{out}{err}");
        let is_told = said.contains("a key is written out in the address");
        assert_eq!(is_told, is_refused, "{url}: {code} {said}");
        assert!(!is_refused || said.contains("${VARIABLE}"), "{url}: {said}");
        assert!(!said.contains("abcdef123456"), "{said}");
    }
}
