//! The clock that leases are counted by: it goes on while the machine sleeps.
//!
//! Java's own (`CLOCK_MONOTONIC`) stands still then: a coordinator that slept for an hour would take its leases for fresh, and
//! call "empty" what was written meanwhile. `CLOCK_BOOTTIME` counts the hour. It is the same for all processes of a machine,
//! and begins anew with it.

/// Milliseconds since the machine was started, those asleep included; `None` where no such clock is known, so that no lease may
/// be relied on.
#[cfg(target_os = "linux")]
pub(crate) fn now() -> Option<u64> {
    use rustix::time::{ClockId, clock_gettime};

    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).ok()?;
    let nanos = u64::try_from(now.tv_nsec).ok()?;
    Some(seconds * 1_000 + nanos / 1_000_000)
}

/// Other systems have other names for such a clock; none of them has been tried.
#[cfg(not(target_os = "linux"))]
pub(crate) fn now() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    /// What the kernel itself calls the time since start, sleep included, on either side of ours.
    #[test]
    fn it_is_the_clock_that_counts_sleep() {
        let uptime = || {
            let text = std::fs::read_to_string("/proc/uptime").unwrap();
            text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1_000.0
        };
        let before = uptime();
        let now = super::now().unwrap() as f64;
        assert!(before - 10.0 <= now && now <= uptime() + 20.0, "{before} {now}");
    }
}
