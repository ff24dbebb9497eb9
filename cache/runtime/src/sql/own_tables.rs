//! The tables that the cache itself needs in the database.

use lacuna_cache_protocol::Result;

use crate::sql::database::Database;
use crate::sql::statement::Statement;

/// Makes a table unless it is there, so that a process that may not create tables uses what another has made.
///
/// # Errors
/// Those of the database, with the statement for a user who may create the table.
pub(crate) async fn ensure(database: &dyn Database, name: &str, create: &str) -> Result<()> {
    let is_there = Statement::new(format!("SELECT 1 FROM {name} WHERE 1 = 0"));
    if database.query(&is_there).await.is_ok() || database.run(create).await.is_ok() {
        return Ok(());
    }
    // Two processes that create it at once may conflict: then it is there now.
    database.run(create).await.map_err(|failure| {
        let message = format!("the table {name} is missing; as a user who may create tables, run `{create}`");
        failure.error.with_context(message)
    })
}
