//! Proxies before one server.

use lacuna_proxy::{CacheCounts, Options, Proxy, Registered};
use tokio::runtime::Runtime;

use crate::cache::setting::runtime;
use crate::world::eventually;

pub(super) struct Proxies {
    runtime: Runtime,
    options: Options,
    running: Vec<Proxy>,
    /// Of those that were killed.
    ended: Vec<CacheCounts>,
}

impl Proxies {
    pub(super) fn start(options: Options, count: usize) -> Self {
        let runtime = runtime();
        let running = (0..count).map(|_| runtime.block_on(options.clone().start()).unwrap()).collect();
        Self { runtime, options, running, ended: Vec::new() }
    }

    /// Where they listen, whichever of them are killed.
    pub(super) fn ports(&self) -> Vec<u16> {
        self.running.iter().map(|proxy| proxy.address().port()).collect()
    }

    /// The least of what those count that run.
    pub(super) fn least(&self, of: impl Fn(&CacheCounts) -> u64) -> u64 {
        self.running.iter().map(|proxy| of(&counts(proxy))).min().unwrap_or(0)
    }

    /// Ends one without order, in the middle of what its sessions do. Another one takes its place.
    pub(super) fn kill_one(&mut self) {
        let killed = self.running.remove(0);
        self.ended.push(counts(&killed));
        let options = self.options.clone().with_listen(killed.address());
        drop(killed);
        eventually("another one takes its place", || {
            // Its address may not be free yet, and the server may start anew.
            let started = self.runtime.block_on(options.clone().start());
            started.map(|proxy| self.running.push(proxy)).is_ok()
        });
    }

    /// Registers a column with each, or takes it off their lists. What is refused is tried again the next time.
    pub(super) fn toggle(&self, column: &str, is_registered: bool) {
        let column: Registered = column.parse().unwrap();
        for proxy in &self.running {
            if is_registered {
                let became = self.runtime.block_on(proxy.register(&column)).unwrap();
                println!("registered: {:?}", became[0].1);
            } else {
                self.runtime.block_on(proxy.unregister(&column)).unwrap();
            }
        }
    }

    /// What all have done.
    pub(super) fn stop(mut self) -> Vec<CacheCounts> {
        self.ended.extend(self.running.iter().map(counts));
        self.running.into_iter().for_each(|proxy| self.runtime.block_on(proxy.stop()));
        self.ended
    }
}

fn counts(proxy: &Proxy) -> CacheCounts {
    proxy.cache_counts().unwrap()
}
