//! The settings of a dendrite from a file, for one table or many: each key is an argument of the command.
//!
//! ```toml
//! listen = "0.0.0.0:7400"
//! store = "postgres://app:${APP_PASSWORD}@10.0.0.1/app"
//! cache = ["redis://10.0.0.5:6379"]
//! secret-file = "secret"
//!
//! [[table]]
//! name = "people"
//! key = ["id"]
//! domain = ["age:integer"]
//!
//! [[table]]
//! name = "orders"
//! key = ["id"]
//! domain = ["placed:timestamp"]
//! policy = "around"
//! ```
//!
//! What stands before the tables holds for all of them; a table may say otherwise. `${NAME}` is the variable of the
//! environment with that name.

use std::path::Path;

use lacuna_cache_protocol::{Error, Result};
use toml::{Table, Value};

use crate::config_file;

/// The key with the tables.
const TABLES: &str = "table";
/// How a table calls its argument `--table`.
const NAME: &str = "name";

/// The arguments of each table in the file.
///
/// # Errors
/// `InvalidInput` if the file cannot be read, is not TOML, names no table or names a variable that is not set.
pub(crate) fn arguments(path: &Path) -> Result<Vec<Vec<String>>> {
    let about = |why: String| Error::invalid_input(format!("{}: {why}", path.display()));
    let mut shared = config_file::read(path).map_err(about)?;
    let Some(Value::Array(tables)) = shared.remove(TABLES) else {
        return Err(about("names no table: add `[[table]]` with name, key and domain".to_owned()));
    };
    tables.into_iter().map(|table| of_table(&shared, table).map_err(about)).collect()
}

/// The arguments of one table, with what it does not say taken from `shared`.
fn of_table(shared: &Table, table: Value) -> Result<Vec<String>, String> {
    let Value::Table(mut own) = table else { return Err("`table` is written `[[table]]`".to_owned()) };
    if let Some(name) = own.remove(NAME) {
        own.insert(TABLES.to_owned(), name);
    }
    let mut merged = shared.clone();
    merged.extend(own);
    config_file::arguments(merged)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<String>>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        arguments(file.path())
    }

    #[test]
    fn tables_take_what_they_do_not_say_from_above_them() {
        let text = "listen = \"a:1\"\npolicy = \"around\"\nlease = 7\n[[table]]\nname = \"people\"\nkey = [\"id\", \"part\"]\n\
                    watchdog = true\n[[table]]\nname = \"orders\"\npolicy = \"back\"\ncompress = false\n";
        let [people, orders] = <[Vec<String>; 2]>::try_from(read(text).unwrap()).unwrap();
        let expected = [
            "--key=id",
            "--key=part",
            "--lease=7",
            "--listen=a:1",
            "--policy=around",
            "--table=people",
            "--watchdog",
        ];
        assert_eq!(people, expected);
        assert_eq!(orders, ["--lease=7", "--listen=a:1", "--policy=back", "--table=orders"]);
    }

    #[test]
    fn files_that_say_nothing_are_refused() {
        for (text, why) in [
            ("", "names no table"),
            ("[table]\nname = \"people\"", "names no table"),
            ("table = [1]", "is written `[[table]]`"),
            ("[etcd]\nuser = 1\n[[table]]", "`etcd` is no section"),
            ("listen = ", "expected"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(arguments("/no/such/file".as_ref()).unwrap_err().to_string().starts_with("/no/such/file: "));
    }
}
