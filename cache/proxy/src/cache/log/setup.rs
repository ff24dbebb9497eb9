//! What the log needs of a database: whole old rows of registered tables, and a message for each change of a definition.
//!
//! Logical decoding shows no DDL. An event trigger writes a message into the log in the transaction of the DDL: so the message is
//! decoded at that transaction's commit, before everything that is committed later.

use crate::cache::registered::Registered;
use crate::cache::sql_names::quoted;

/// The prefix of messages in the log that are the proxy's.
pub(super) const PREFIX: &str = "lacuna_log";
/// What the message about a definition says.
pub(super) const DEFINITION: &str = "definition";

/// What the function of the event trigger does; the catalogue must have it letter by letter.
pub(in crate::cache) const BODY: &str = "
BEGIN
    PERFORM pg_catalog.pg_logical_emit_message(true, 'lacuna_log', 'definition');
END";

/// The SQL by which the log of the database says all that a cache of these columns has to know.
///
/// Its author must own the tables, and be a superuser: event triggers belong to one.
#[must_use]
pub fn log_sql(registered: &Registered) -> String {
    let identities = identities(registered, "FULL");
    format!(
        "BEGIN;
CREATE SCHEMA IF NOT EXISTS lacuna_log;
DROP EVENT TRIGGER IF EXISTS lacuna_log;
CREATE OR REPLACE FUNCTION lacuna_log.define() RETURNS event_trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $log${BODY}$log$;
{identities}CREATE EVENT TRIGGER lacuna_log ON ddl_command_end EXECUTE FUNCTION lacuna_log.define();
ALTER EVENT TRIGGER lacuna_log ENABLE ALWAYS;
COMMIT;
"
    )
}

/// The SQL that takes all of that away; rows of these tables are identified by their primary keys again.
#[must_use]
pub fn unlog_sql(registered: &Registered) -> String {
    let identities = identities(registered, "DEFAULT");
    format!(
        "BEGIN;
DROP EVENT TRIGGER IF EXISTS lacuna_log;
DROP SCHEMA IF EXISTS lacuna_log CASCADE;
{identities}COMMIT;
"
    )
}

fn identities(registered: &Registered, identity: &str) -> String {
    let of = |(schema, table): (&str, &str)| {
        format!("ALTER TABLE {}.{} REPLICA IDENTITY {identity};\n", quoted(schema), quoted(table))
    };
    registered.tables().map(of).collect()
}
