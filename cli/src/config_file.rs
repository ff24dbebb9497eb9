//! Settings of a command from a file in TOML: each key is one of its arguments.
//!
//! A list is an argument given several times, `true` a flag. `${NAME}` is the variable of the environment with that name.

use std::path::Path;

use toml::{Table, Value};

/// The keys of a file.
///
/// # Errors
/// Why it cannot be read, or is not TOML.
pub(crate) fn read(path: &Path) -> Result<Table, String> {
    let text = std::fs::read_to_string(path).map_err(|why| why.to_string())?;
    text.parse().map_err(|why: toml::de::Error| why.to_string())
}

/// The arguments that the keys of a table stand for.
///
/// # Errors
/// Which key is none, or which variable is not set.
pub(crate) fn arguments(table: Table) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    for (key, value) in table {
        add(&mut arguments, &key, value)?;
    }
    Ok(arguments)
}

/// Adds the arguments that a key and its value stand for: a list is an argument given several times, `true` a flag.
fn add(arguments: &mut Vec<String>, key: &str, value: Value) -> Result<(), String> {
    match value {
        Value::Array(values) => values.into_iter().try_for_each(|value| add(arguments, key, value))?,
        Value::Boolean(true) => arguments.push(format!("--{key}")),
        Value::Boolean(false) => {}
        Value::String(text) => arguments.push(format!("--{key}={}", with_variables(&text)?)),
        Value::Integer(number) => arguments.push(format!("--{key}={number}")),
        Value::Float(number) => arguments.push(format!("--{key}={number}")),
        Value::Datetime(moment) => arguments.push(format!("--{key}={moment}")),
        Value::Table(_) => return Err(format!("`{key}` is no section here")),
    }
    Ok(())
}

/// The text with variables of the environment in place of `${NAME}`.
fn with_variables(text: &str) -> Result<String, String> {
    let mut parts = text.split("${");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').ok_or_else(|| format!("`{text}` has `${{` without `}}`"))?;
        whole += &std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?;
        whole += rest;
    }
    Ok(whole)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_environment_are_put_in() {
        let home = std::env::var("PATH").unwrap();
        assert_eq!(with_variables("a:${PATH}@b").unwrap(), format!("a:{home}@b"));
        assert_eq!(with_variables("$5 and }{").unwrap(), "$5 and }{");
        assert!(with_variables("${LACUNA_IS_NOT_SET}").unwrap_err().contains("LACUNA_IS_NOT_SET"));
        assert!(with_variables("a ${b").unwrap_err().contains("without"));
    }
}
