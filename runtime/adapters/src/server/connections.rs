//! The connections of the HTTP server.
//!
//! **The problem.** Anyone who reaches the address can open connections, and the server learns who a peer is only from the head of its first
//! request. Peers without a token must not keep clients out, however many connections they open.
//!
//! **The idea.** A connection starts as a stranger. There are [`STRANGERS`] places for strangers; if all are taken, the oldest stranger is
//! closed to make room. The first request with a token turns the stranger into a client, which gets one of the [`CONNECTIONS`] places for
//! clients and keeps it. A refused request ends its connection, and so does a head that takes longer than [`HEAD`].
//!
//! **Example.** 300 peers that only connect, and one client:
//!
//! ```text
//! 1 to 256        strangers
//! 257 to 300      strangers; the first 44 are closed
//! the client      closes the 45th; its request with a token makes it a client, whatever the others do
//! ```

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};
use tower::ServiceExt;

/// The maximum number of connections whose clients have shown a token.
const CONNECTIONS: usize = 256;
/// The maximum number of other connections.
const STRANGERS: usize = 256;
/// The time within which the head of a request must arrive.
const HEAD: Duration = Duration::from_secs(10);
/// The maximum size of a request's head, in bytes.
const LONGEST_HEAD: usize = 64 * 1024;
/// The time for which a client waits for a place.
const WAIT: Duration = Duration::from_secs(10);
/// The time that requests under way have to finish when the server is stopped.
const FAREWELL: Duration = Duration::from_secs(2);

/// The strangers by the order in which they came, each with the way to close its connection.
type Strangers = Arc<Mutex<BTreeMap<u64, Arc<Notify>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection.
pub(super) struct Connection {
    number: u64,
    strangers: Strangers,
    places: Arc<Semaphore>,
    /// The place of a client; `None` for a stranger.
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

/// All places of clients are taken.
pub(super) struct Crowded;

impl Connection {
    /// Turns a stranger into a client, after a request with a token. Waits for a free place.
    pub(super) async fn admit(&self) -> Result<(), Crowded> {
        if lock(&self.place).is_some() {
            return Ok(());
        }
        let place = timeout(WAIT, self.places.clone().acquire_owned()).await;
        let place = place.ok().and_then(Result::ok).ok_or(Crowded)?;
        *lock(&self.place) = Some(place);
        lock(&self.strangers).remove(&self.number);
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        lock(&self.strangers).remove(&self.number);
    }
}

/// All connections of a server.
pub(super) struct Connections {
    router: Router,
    /// Becomes `true` when the server is stopped.
    end: watch::Receiver<bool>,
    tasks: JoinSet<()>,
    strangers: Strangers,
    places: Arc<Semaphore>,
    count: u64,
}

impl Connections {
    pub(super) fn new(router: Router, end: watch::Receiver<bool>) -> Self {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        Self {
            router,
            end,
            tasks: JoinSet::new(),
            strangers: Strangers::default(),
            places,
            count: 0,
        }
    }

    /// Accepts connections until `stop` resolves.
    ///
    /// # Errors
    /// The listener fails for a reason that does not pass.
    pub(super) async fn accept(
        &mut self,
        listener: TcpListener,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> io::Result<()> {
        loop {
            let stream = tokio::select! {
                () = &mut stop => return Ok(()),
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    // Only this connection has failed, or the process is out of file descriptors: try the next one after a pause.
                    Err(why) if is_passing(&why) => {
                        sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                    Err(why) => return Err(why),
                },
            };
            // Without Nagle's algorithm: responses are small, and each is written at once.
            drop(stream.set_nodelay(true));
            self.serve(stream);
            // Without this, the set would keep the result of every finished connection.
            while self.tasks.try_join_next().is_some() {}
        }
    }

    /// Gives the requests under way time to finish.
    pub(super) async fn finish(&mut self) {
        let finished = async { while self.tasks.join_next().await.is_some() {} };
        drop(timeout(FAREWELL, finished).await);
    }

    fn serve(&mut self, stream: TcpStream) {
        self.count += 1;
        let (number, close) = (self.count, Arc::new(Notify::new()));
        let mut strangers = lock(&self.strangers);
        if strangers.len() >= STRANGERS
            && let Some((_, oldest)) = strangers.pop_first()
        {
            oldest.notify_one();
        }
        strangers.insert(number, close.clone());
        drop(strangers);
        let (strangers, places) = (self.strangers.clone(), self.places.clone());
        let connection =
            Arc::new(Connection { number, strangers, places, place: Mutex::default() });
        let (router, mut end) = (self.router.clone(), self.end.clone());
        self.tasks.spawn(async move {
            let service = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(connection.clone());
                router.clone().oneshot(request.map(Body::new))
            });
            let mut server = hyper::server::conn::http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
            let mut connection = pin!(server.serve_connection(Patient::new(stream), service));
            // A connection that the client closes is no error.
            tokio::select! {
                done = connection.as_mut() => drop(done),
                () = close.notified() => {}
                _ = end.changed() => {
                    connection.as_mut().graceful_shutdown();
                    drop(connection.await);
                }
            }
        });
    }
}

/// Whether an error of `accept` passes, so that the listener can go on.
fn is_passing(why: &io::Error) -> bool {
    // 23 is ENFILE and 24 is EMFILE: too many open files.
    matches!(
        why.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
            | io::ErrorKind::WouldBlock
    ) || why.raw_os_error().is_some_and(|code| code == 23 || code == 24)
}

// TCP connections that time out if the client does not read.

/// The time for which a client may accept no data while some is waiting.
const UNREAD: Duration = Duration::from_secs(30);

/// A connection whose writes fail after [`UNREAD`] without progress. Otherwise a client that never reads would hold its connection and
/// its permit forever.
pub(super) struct Patient {
    stream: TokioIo<TcpStream>,
    /// The timeout; set while a write is pending.
    unread: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream: TokioIo::new(stream), unread: None }
    }

    fn written(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.unread = None;
            return written;
        }
        let unread = self.unread.get_or_insert_with(|| Box::pin(sleep(UNREAD)));
        unread.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Read for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
