//! A run that pays what clients order, and the book of its payments.

use super::*;
use std::collections::BTreeSet;

/// Pays one sum after another. A payment that may have been made is not made again.
const CHART: &str = r"
tool till.pay(n: Int) -> Int

chart Till {
  event pay(n: Int)
  var due: List(Int) = []
  var paid: List(Int) = []
  var doubts: List(Int) = []
  var failed: List(Int) = []

  initial idle
  on pay(n) { due = due + [n] }
  state idle { when len(due) > 0 -> paying }
  state paying {
    call sent till.pay(due[0]) {
      done -> idle { paid = paid + [due[0]]  due = due[1:] }
      doubt -> idle { doubts = doubts + [due[0]]  due = due[1:] }
      error -> idle { failed = failed + [due[0]]  due = due[1:] }
    }
  }
}
";

/// The tool writes the payment into a book before it answers.
const TOOLS: &str = r#"
[tools."till.pay"]
command = ["sh", "-c", "echo $0 >> book; echo $0", "{n}"]
cwd = "."
"#;

/// The arguments with which a server serves the chart.
pub(super) const SERVED: [&str; 5] = ["till.chart", "--tools", "tools.toml", "--turns", "1000000"];

/// The maximum number of orders that wait, so that the payments keep up with the clients.
const WAITING: usize = 4;

/// The path of the book.
pub(super) struct Till(PathBuf);

/// Begins the run.
pub(super) fn begin(client: &Client) {
    let order = json!({"chart": "Till", "run": "till", "turns": 1_000_000});
    assert_eq!(client.post("/runs", &order).status, 201);
}

impl Till {
    pub(super) fn new(folder: &Path) -> Self {
        std::fs::write(folder.join("till.chart"), CHART).expect("a file");
        std::fs::write(folder.join("tools.toml"), TOOLS).expect("a file");
        Self(folder.join("book"))
    }

    /// Waits until no order is open, and compares the run with the book: each of the orders `0..orders` was paid once or is in doubt.
    /// Returns the number of orders in doubt.
    pub(super) fn balances(&self, client: &Client, orders: u64) -> usize {
        let mut read = Value::Null;
        until("all is paid", || {
            read = client.get("/runs/till").json()["variables"].clone();
            read["due"] == json!([])
        });
        let of = |name: &str| -> Vec<u64> {
            serde_json::from_value(read[name].clone()).unwrap_or_else(|why| panic!("{why}: {read}"))
        };
        let (paid, doubts, failed) = (of("paid"), of("doubts"), of("failed"));
        let book = std::fs::read_to_string(&self.0).expect("a book");
        let book: Vec<u64> = book.lines().map(|line| line.parse().expect("a sum")).collect();
        let once: BTreeSet<u64> = book.iter().copied().collect();
        assert_eq!(book.len(), once.len(), "paid twice: {book:?}");
        assert_eq!(failed, [0; 0], "no payment fails");
        assert!(paid.iter().all(|sum| once.contains(sum)), "answered and not paid: {read}");
        let mut known = [paid, doubts.clone()].concat();
        known.sort_unstable();
        assert!(once.iter().all(|sum| known.binary_search(sum).is_ok()), "paid and lost: {read}");
        assert!(known == (0..orders).collect::<Vec<_>>(), "{orders} orders: {read}");
        doubts.len()
    }
}

/// Orders a payment, then waits until few orders are open. Returns the status of the reply, `None` if the server has ended.
pub(super) fn pay(client: &Client, nth: u64) -> Option<u16> {
    let event = json!({"event": "pay", "data": {"n": nth}, "id": format!("pay {nth}")});
    let reply = client.tried("/runs/till/events", &event)?;
    loop {
        let read = client.requested("GET", "/runs/till", &Value::Null)?.json();
        match read["variables"]["due"].as_array() {
            Some(due) if due.len() >= WAITING => {
                std::thread::sleep(Duration::from_millis(2));
            }
            _ => return Some(reply.status),
        }
    }
}
