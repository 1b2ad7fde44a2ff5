//! Traces of runs: as they are, or as they grow.

use super::reply::{Body, Reply, with};
use crate::runs::Runs;
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

/// Pieces that are written before their reader has taken them.
const AHEAD: usize = 16;
/// How often a stream without news shows that it is there, so that nobody between takes it for dead.
const ALIVE: Duration = Duration::from_secs(15);

/// A body that a task writes.
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

/// The trace as it is now, a JSON object a line.
pub(crate) fn lines(runs: Arc<Runs>, run: &str) -> Reply {
    let (to, body) = pieces();
    let run = run.to_owned();
    tokio::spawn(async move {
        let mut seq = 0;
        while let Ok(lines) = runs.lines(&run, seq).await
            && let Some(last) = lines.last()
        {
            seq = last.seq;
            let piece: String = lines.iter().map(|line| written(line) + "\n").collect();
            if to.send(piece).await.is_err() {
                return;
            }
        }
    });
    with(StatusCode::OK, "application/jsonl", body)
}

/// The trace behind a line as server-sent events, and then each line once it is committed, up to the end of the run or of
/// the server.
pub(crate) fn events(
    runs: Arc<Runs>,
    run: &str,
    after: u64,
    (place, mut end): (OwnedSemaphorePermit, watch::Receiver<bool>),
) -> Reply {
    let (to, body) = pieces();
    let run = run.to_owned();
    tokio::spawn(async move {
        let _place = place;
        let (mut seq, mut follower) = (after, runs.follow(&run));
        loop {
            let Ok(lines) = runs.lines(&run, seq).await else { return };
            let piece = if let Some(last) = lines.last() {
                seq = last.seq;
                lines.iter().map(event).collect()
            } else {
                tokio::select! {
                    more = follower.more() => if more { continue } else { return },
                    () = to.closed() => return,
                    _ = end.changed() => return,
                    () = tokio::time::sleep(ALIVE) => ": \n\n".to_owned(),
                }
            };
            let is_over = lines.last().is_some_and(ends);
            if to.send(piece).await.is_err() || is_over {
                return;
            }
        }
    });
    with(StatusCode::OK, "text/event-stream", body)
}

/// Whether it is the last line of a run.
fn ends(line: &Line) -> bool {
    line.child.is_empty() && matches!(line.what, What::Ended { .. })
}

fn event(line: &Line) -> String {
    format!("id: {}\ndata: {}\n\n", line.seq, written(line))
}

fn written(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default()
}
