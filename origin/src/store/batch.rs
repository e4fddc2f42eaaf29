//! Group commit in the application: what waits while statements are under way goes out together,
//! in one statement and one commit. A lone request never waits for a batch to fill.

use super::Error;
use std::{fmt, sync::Arc};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// One row of a batch and where its result goes.
pub(super) type Job<T, R> = (T, oneshot::Sender<Result<R, Error>>);

/// A queue in front of a statement.
pub(super) struct Batch<T, R>(mpsc::UnboundedSender<Job<T, R>>);

impl<T: Send + 'static, R: Send + 'static> Batch<T, R> {
    /// A queue whose rows `carry_out` takes, at most `at_once` statements at a time, each of
    /// at most `largest` rows.
    pub(super) fn new<F>(
        at_once: usize,
        largest: usize,
        carry_out: impl Fn(Vec<Job<T, R>>) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, mut jobs) = mpsc::unbounded_channel();
        let at_once = Arc::new(Semaphore::new(at_once));
        tokio::spawn(async move {
            while let Ok(permit) = Arc::clone(&at_once).acquire_owned().await {
                let mut batch = Vec::new();
                if jobs.recv_many(&mut batch, largest).await == 0 {
                    return;
                }
                let carried_out = carry_out(batch);
                tokio::spawn(async move {
                    carried_out.await;
                    drop(permit);
                });
            }
        });
        Self(sender)
    }

    /// Queues a row and waits for its result.
    pub(super) async fn run(&self, row: T) -> Result<R, Error> {
        let (sender, result) = oneshot::channel();
        let closed = || Error::Unavailable(Arc::new(sqlx::Error::WorkerCrashed));
        self.0.send((row, sender)).map_err(|_| closed())?;
        result.await.unwrap_or_else(|_| Err(closed()))
    }
}

impl<T, R> fmt::Debug for Batch<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Batch")
    }
}
