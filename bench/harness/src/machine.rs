//! The machine that something was measured on.

use std::fmt;
use std::fs;
use std::thread;

/// What a reader should know of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The processor's model.
    pub processor: String,
    /// Threads that run at once.
    pub cores: usize,
    /// Memory, in GiB.
    pub memory_gib: Option<u64>,
    /// The operating system, as it names itself.
    pub system: String,
    /// Threads that wanted to run during the last minute; more than [`cores`](Self::cores) is a busy machine.
    pub load: Option<f64>,
}

impl Machine {
    /// This machine, now.
    pub fn here() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            processor: cpu_model(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_gib: memory_in(&read("/proc/meminfo")),
            system: system_in(&read("/etc/os-release"), read("/proc/sys/kernel/osrelease").trim()),
            load: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()),
        }
    }
}

/// One sentence without a dot.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processor, cores, memory_gib, system, load } = self;
        write!(f, "{processor}, {cores} threads")?;
        if let Some(gib) = memory_gib {
            write!(f, ", {gib} GiB")?;
        }
        write!(f, ", {system}")?;
        match load {
            Some(load) => write!(f, "; load {load:.1} at the end"),
            None => Ok(()),
        }
    }
}

/// The processor's model as the operating system names it, or `unknown processor`.
pub fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_in(&text).unwrap_or_else(|| "unknown processor".to_owned())
}

fn model_in(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory_in(meminfo: &str) -> Option<u64> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((kib + (1 << 19)) >> 20)
}

/// The system's own name and its kernel; where neither is known, what the program was built for.
fn system_in(os_release: &str, kernel: &str) -> String {
    let name = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map_or(std::env::consts::OS, |name| name.trim_matches('"'));
    if kernel.is_empty() { name.to_owned() } else { format!("{name}, kernel {kernel}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_read_from_its_line() {
        let text = "processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\nflags\t: a b\n";
        assert_eq!(model_in(text).as_deref(), Some("Fast CPU @ 3 GHz"));
        assert_eq!(model_in("processor : 0"), None);
    }

    #[test]
    fn memory_and_system_are_read_from_their_lines() {
        assert_eq!(memory_in("MemTotal:       24520000 kB\nMemFree: 1 kB\n"), Some(23));
        assert_eq!(memory_in(""), None);
        assert_eq!(system_in("ID=x\nPRETTY_NAME=\"Debian 12\"\n", "6.1"), "Debian 12, kernel 6.1");
        assert_eq!(system_in("", ""), std::env::consts::OS);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let known = Machine {
            processor: "A".to_owned(),
            cores: 2,
            memory_gib: Some(23),
            system: "B".to_owned(),
            load: Some(6.25),
        };
        assert_eq!(known.to_string(), "A, 2 threads, 23 GiB, B; load 6.2 at the end");
        let unknown = Machine { memory_gib: None, load: None, ..known };
        assert_eq!(unknown.to_string(), "A, 2 threads, B");
    }
}
