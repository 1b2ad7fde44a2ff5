//! A request that waits for its answer: progress that keeps it alive, and what the server is told when nobody waits any more.

use rmcp::model::{CancelledNotification, CancelledNotificationParam, ProgressToken, RequestId};
use rmcp::service::{Peer, RequestHandle, RoleClient};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long it may take to tell a server that nobody waits for an answer.
const TOLD: Duration = Duration::from_secs(5);

/// Who waits for progress, by the token of the request.
pub(crate) type Progress = Arc<Mutex<HashMap<ProgressToken, Arc<Notify>>>>;

/// A request whose progress is told.
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

/// Tells the server, when it is dropped before the answer has come, that nobody waits any more.
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
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_done {
            return;
        }
        let (peer, id, lost) = (self.peer.clone(), self.id.clone(), self.lost.clone());
        runtime.spawn(async move {
            let reason = Some("the call was given up".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let told = peer.send_notification(CancelledNotification::new(params).into());
            // A server that cannot be told reads nothing any more: the next call needs another one.
            if !matches!(timeout(TOLD, told).await, Ok(Ok(()))) {
                lost.store(true, Ordering::Relaxed);
            }
        });
    }
}
