//! A folder that is gone after the test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{env, fs, process};

static NUMBER: AtomicU32 = AtomicU32::new(0);

pub(crate) struct TestFolder {
    path: PathBuf,
}

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("lacuna-{name}-{}-{}", process::id(), NUMBER.fetch_add(1, Relaxed));
        Self { path: env::temp_dir().join(name) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
