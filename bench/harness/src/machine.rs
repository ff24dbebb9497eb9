//! The machine that something was measured on.

/// The processor's model as the operating system names it, or `unknown processor`.
pub fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_in(&text).unwrap_or_else(|| "unknown processor".to_owned())
}

fn model_in(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
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
}
