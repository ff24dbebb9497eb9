//! Reports to a callback of Python while a filter is built.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Time between two reports.
const INTERVAL: Duration = Duration::from_millis(100);

/// A callback, or none, and when the work began.
pub(crate) struct Progress {
    callback: Option<Py<PyAny>>,
    start: Instant,
}

impl Progress {
    /// Reports to `callback(stage, seconds)`.
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, start: Instant::now() }
    }

    /// Does `work`, which needs no interpreter, while other threads of Python run. The callback is called at its beginning
    /// and every 100 ms until its end.
    ///
    /// # Errors
    /// Whatever the callback raised first, or a signal's handler; the work is done to its end before.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        stage: &str,
        work: impl FnOnce() -> T + Send,
    ) -> PyResult<T> {
        if self.callback.is_none() {
            return Ok(py.detach(work));
        }
        self.report(py, stage)?;
        py.detach(|| {
            thread::scope(|scope| {
                let (done, is_done) = mpsc::channel::<()>();
                let worker = scope.spawn(move || {
                    let made = work();
                    drop(done);
                    made
                });
                let mut heard = Ok(());
                while matches!(is_done.recv_timeout(INTERVAL), Err(RecvTimeoutError::Timeout)) {
                    if heard.is_ok() {
                        heard = Python::attach(|py| py.check_signals().and_then(|()| self.report(py, stage)));
                    }
                }
                match worker.join() {
                    Ok(made) => heard.map(|()| made),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            })
        })
    }

    fn report(&self, py: Python<'_>, stage: &str) -> PyResult<()> {
        let Some(callback) = &self.callback else { return Ok(()) };
        callback.call1(py, (stage, self.start.elapsed().as_secs_f64())).map(drop)
    }
}
