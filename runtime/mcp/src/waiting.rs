//! Support for a request that waits for its answer: progress, which extends its deadline, and cancellation.

use rmcp::model::{CancelledNotification, CancelledNotificationParam, ProgressToken, RequestId};
use rmcp::service::{Peer, RequestHandle, RoleClient};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The time limit for sending a cancellation.
const TOLD: Duration = Duration::from_secs(5);

/// The requests that wait, by their progress tokens. A notification of progress wakes the request.
pub(crate) type Progress = Arc<Mutex<HashMap<ProgressToken, Arc<Notify>>>>;

/// The registration of a request for notifications of progress. Dropping it removes the registration.
pub(crate) struct Watched {
    all: Progress,
    token: ProgressToken,
    pub(crate) progress: Arc<Notify>,
}

impl Watched {
    pub(crate) fn new(all: &Progress, token: &ProgressToken) -> Self {
        let progress = Arc::new(Notify::new());
        let (all, token) = (all.clone(), token.clone());
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), progress.clone());
        Self { all, token, progress }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

/// Sends the server a cancellation if it is dropped before the answer has arrived.
pub(crate) struct CancelOnDrop {
    peer: Peer<RoleClient>,
    id: RequestId,
    lost: Arc<AtomicBool>,
    pub(crate) is_done: bool,
}

impl CancelOnDrop {
    pub(crate) fn new(handle: &RequestHandle<RoleClient>, lost: &Arc<AtomicBool>) -> Self {
        let (peer, id) = (handle.peer.clone(), handle.id.clone());
        Self { peer, id, lost: lost.clone(), is_done: false }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // `drop` cannot wait, so the notification is sent by a task. Without a runtime, the process is ending anyway.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_done {
            return;
        }
        let (peer, id, lost) = (self.peer.clone(), self.id.clone(), self.lost.clone());
        runtime.spawn(async move {
            let reason = Some("the call was given up".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let told = peer.send_notification(CancelledNotification::new(params).into());
            // The server does not read any more, so the connection is useless for further calls.
            if !matches!(timeout(TOLD, told).await, Ok(Ok(()))) {
                lost.store(true, Ordering::Relaxed);
            }
        });
    }
}
