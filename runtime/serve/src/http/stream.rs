//! Response bodies with the trace of a run: the lines so far, or a stream of server-sent events as the trace grows.

use super::reply::{Body, Reply, with};
use crate::refusal::Refusal;
use crate::runs::{LINES, Runs};
use chartc_runtime::trace::{Line, What};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Bytes, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

/// The number of pieces that are read from the store before the client has taken the previous ones. It bounds the memory of each stream.
const AHEAD: usize = 1;
/// The interval of empty comments on a stream without news. They keep proxies from closing the connection as idle.
const ALIVE: Duration = Duration::from_secs(15);

/// A response body whose pieces come from a channel that a task fills.
struct Pieces(mpsc::Receiver<String>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(Bytes::from(piece)))))
    }
}

fn pieces() -> (mpsc::Sender<String>, Body) {
    let (to, from) = mpsc::channel(AHEAD);
    (to, Pieces(from).boxed_unsync())
}

/// A position in the trace of a run, from which the lines are read in batches.
struct Lines {
    runs: Arc<Runs>,
    run: String,
    seq: u64,
}

impl Lines {
    fn new(runs: Arc<Runs>, run: &str, seq: u64) -> Self {
        Self { runs, run: run.to_owned(), seq }
    }

    /// Reads the next batch; empty if there are no further lines yet.
    async fn next(&mut self) -> Result<Vec<Line>, Refusal> {
        let lines = self.runs.lines(&self.run, self.seq, LINES).await?;
        self.seq = lines.last().map_or(self.seq, |last| last.seq);
        Ok(lines)
    }

    /// Whether the run has failed without having ended: its trace has no last line.
    async fn is_broken(&self) -> bool {
        self.runs.find(&self.run).await.is_ok_and(|found| found.status == "broken")
    }
}

/// Responds with the trace as it is now, one JSON object per line.
pub(crate) fn lines(runs: Arc<Runs>, run: &str, place: OwnedSemaphorePermit) -> Reply {
    let (to, body) = pieces();
    let mut lines = Lines::new(runs, run, 0);
    tokio::spawn(async move {
        let _place = place;
        while let Ok(next) = lines.next().await
            && !next.is_empty()
        {
            let piece = next.iter().map(|line| written(line) + "\n").collect();
            if to.send(piece).await.is_err() {
                return;
            }
        }
    });
    with(StatusCode::OK, "application/jsonl", body)
}

/// Responds with the lines after line `after` as server-sent events, and then with each new line as soon as it is committed, until the
/// run ends or the server stops.
pub(crate) fn events(
    runs: Arc<Runs>,
    run: &str,
    after: u64,
    (place, mut end_of_server): (OwnedSemaphorePermit, watch::Receiver<bool>),
) -> Reply {
    let (to, body) = pieces();
    // Subscribe before the first read, so that no line between the two is missed.
    let mut follower = runs.follow(run);
    let mut lines = Lines::new(runs, run, after);
    tokio::spawn(async move {
        let _place = place;
        loop {
            let Ok(mut next) = lines.next().await else { return };
            let end = next.iter().position(ends);
            // Lines after the end come from calls that finished late; they are not part of the run.
            next.truncate(end.map_or(next.len(), |end| end + 1));
            let piece = if next.is_empty() {
                tokio::select! {
                    more = follower.more() => if more { continue } else { return },
                    () = to.closed() => return,
                    _ = end_of_server.changed() => return,
                    () = tokio::time::sleep(ALIVE) => {
                        if lines.is_broken().await {
                            return;
                        }
                        // A comment of the protocol, which clients ignore.
                        ": \n\n".to_owned()
                    }
                }
            } else {
                next.iter().map(event).collect()
            };
            let is_over = end.is_some();
            if to.send(piece).await.is_err() || is_over {
                return;
            }
        }
    });
    with(StatusCode::OK, "text/event-stream", body)
}

/// Whether a line is the last one of a run: its end, not that of a child chart.
fn ends(line: &Line) -> bool {
    line.child.is_empty() && matches!(line.what, What::Ended { .. })
}

fn event(line: &Line) -> String {
    format!("id: {}\ndata: {}\n\n", line.seq, written(line))
}

fn written(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default()
}
