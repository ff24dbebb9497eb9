//! The two questions to the catalogue. Every row is six texts: a kind, and what belongs to it.
//!
//! The parameters of [`FACTS`] are the registered tables, a line each: schema, tab, table; and the roles that are allowed to
//! write, a line each; the names that statements may call, and those of them that must not be volatile; the body of guard triggers, or
//! nothing; the body of the event trigger of the log, or nothing. If both are nothing, rights keep others from writing. Objects of users have numbers from 16,384 on.

/// What [`super::Catalogue`] is made of.
pub(super) const FACTS: &str = "
WITH RECURSIVE registered (schema, name) AS (
    SELECT split_part(line, chr(9), 1), split_part(line, chr(9), 2) FROM unnest(string_to_array($1::text, chr(10))) AS line),
tables AS (
    SELECT c.oid AS id, c.xmin AS written, n.xmin AS schema_written, c.*, n.nspname, n.nspowner FROM registered AS r JOIN pg_catalog.pg_namespace AS n ON n.nspname = r.schema
    JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = r.name),
-- Tables with guards: two triggers of the one function, one for statements and one for rows that are replicated.
guards (id) AS (SELECT t.id FROM tables AS t WHERE 2 = (SELECT count(*) FROM pg_catalog.pg_trigger AS g
    JOIN pg_catalog.pg_proc AS f ON f.oid = g.tgfoid AND f.oid = to_regprocedure('lacuna_guard.check_writer()')
    WHERE g.tgrelid = t.id AND g.tgqual IS NULL AND g.tgnargs = 0 AND f.prosecdef AND f.prosrc = $5::text
    AND f.proconfig = ARRAY['search_path=pg_catalog, pg_temp'] AND pg_has_role(f.proowner, 'pg_read_all_stats', 'USAGE')
    AND ((g.tgname = 'lacuna_guard' AND g.tgtype = 62 AND g.tgenabled = 'A') OR (g.tgname = 'lacuna_guard_rows' AND g.tgtype = 31 AND g.tgenabled = 'R')))),
-- Views and rules through which a table is reached, and the table itself.
paths (id) AS (
    SELECT id FROM tables UNION
    SELECT w.ev_class FROM paths AS p JOIN pg_catalog.pg_depend AS d
    ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = p.id AND d.classid = 'pg_catalog.pg_rewrite'::regclass
    JOIN pg_catalog.pg_rewrite AS w ON w.oid = d.objid),
may (id) AS (
    SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE $5::text = '' AND $6::text = '' AND (r.rolsuper
    OR (r.rolcreaterole AND current_setting('server_version_num')::int < 160000)
    OR r.rolname IN ('pg_write_server_files', 'pg_execute_server_program')
    OR EXISTS (SELECT FROM paths AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.id
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE r.oid IN (c.relowner, n.nspowner) OR has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
        OR has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE')))),
logins AS (
    SELECT l.oid AS id, l.rolname FROM pg_catalog.pg_roles AS l WHERE l.rolcanlogin),
allowed AS (SELECT unnest(string_to_array($2::text, chr(10))) AS name),
-- What users have added that may run anything: functions, but for those that an extension brings in C and that are not volatile.
extended (catalogue, id) AS (SELECT classid, objid FROM pg_catalog.pg_depend WHERE deptype = 'e'),
own AS MATERIALIZED (SELECT f.oid AS id, f.* FROM pg_catalog.pg_proc AS f WHERE f.oid >= 16384 AND NOT (f.prokind = 'f' AND f.provolatile <> 'v'
    AND f.prolang IN (SELECT oid FROM pg_catalog.pg_language WHERE lanname IN ('c', 'internal'))
    AND f.oid IN (SELECT id FROM extended WHERE catalogue = 'pg_catalog.pg_proc'::regclass))),
own_operators AS MATERIALIZED (SELECT o.oid AS id, o.* FROM pg_catalog.pg_operator AS o
    WHERE o.oid >= 16384 AND (o.oprcode < 16384 OR o.oprcode IN (SELECT id FROM own))),
-- Domains, types that a function of them reads, and what holds such; an enum is read by PostgreSQL itself.
own_types (id) AS (
    SELECT t.oid FROM pg_catalog.pg_type AS t LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid
    WHERE t.oid >= 16384 AND (t.typtype IN ('d', 'r', 'm') OR (t.typtype = 'c' AND c.relkind NOT IN ('r', 'p') AND c.relpersistence <> 't')
    OR (t.typtype NOT IN ('e', 'c') AND t.typelem = 0 AND (t.typinput IN (SELECT id FROM own) OR t.typoutput IN (SELECT id FROM own))))
    UNION SELECT t.oid FROM own_types AS o JOIN pg_catalog.pg_type AS t ON t.typelem = o.id),
-- Tables that run something of a user when they are written, or when a statement on them is planned.
tainted (id) AS MATERIALIZED (
    SELECT coalesce(i.indrelid, k.conrelid, a.adrelid) FROM pg_catalog.pg_depend AS d
    LEFT JOIN pg_catalog.pg_index AS i ON d.classid = 'pg_catalog.pg_class'::regclass AND i.indexrelid = d.objid
    LEFT JOIN pg_catalog.pg_constraint AS k ON d.classid = 'pg_catalog.pg_constraint'::regclass AND k.oid = d.objid
    LEFT JOIN pg_catalog.pg_attrdef AS a ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND a.oid = d.objid
    WHERE d.refobjid >= 16384 AND (
        (d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.refobjid IN (SELECT id FROM own))
        OR (d.refclassid = 'pg_catalog.pg_operator'::regclass AND d.refobjid IN (SELECT id FROM own_operators))
        OR (d.refclassid = 'pg_catalog.pg_type'::regclass AND d.refobjid IN (SELECT id FROM own_types))
        OR (d.refclassid = 'pg_catalog.pg_opclass'::regclass AND d.refobjid NOT IN (SELECT id FROM extended WHERE catalogue = 'pg_catalog.pg_opclass'::regclass)))),
-- Tables whose reads run nothing of a user.
readable (id) AS (SELECT c.oid FROM pg_catalog.pg_class AS c
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND NOT c.relrowsecurity
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE c.oid IN (inhrelid, inhparent))
    AND NOT EXISTS (SELECT FROM tainted WHERE tainted.id = c.oid)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND atttypid IN (SELECT id FROM own_types))),
-- Tables whose writes do nothing elsewhere: no trigger, no rule, no row security, no foreign key that acts, nothing of users.
independent (id) AS (SELECT c.oid FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND NOT c.relrowsecurity AND NOT c.relhasrules
    AND c.oid NOT IN (SELECT id FROM tables) AND NOT EXISTS (SELECT FROM tainted WHERE tainted.id = c.oid)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE c.oid IN (inhrelid, inhparent))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE confrelid = c.oid AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd')))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND atttypid >= 16384)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.refobjid >= 16384 AND (
        (d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid IN (SELECT oid FROM pg_catalog.pg_attrdef WHERE adrelid = c.oid))
        OR (d.classid = 'pg_catalog.pg_constraint'::regclass AND d.objid IN (SELECT oid FROM pg_catalog.pg_constraint WHERE conrelid = c.oid))
        OR (d.classid = 'pg_catalog.pg_class'::regclass AND d.objid IN (SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid = c.oid)))))
SELECT 'column', nspname::text, relname::text, attname::text, atttypid::text,
    (attgenerated <> '')::text || ' ' || coalesce((SELECT collisdeterministic FROM pg_catalog.pg_collation AS o WHERE o.oid = attcollation), true)::text
        -- \"C\", \"POSIX\", or the database's own if that is one of them.
        || ' ' || (attcollation IN (950, 951) OR (attcollation = 100 AND EXISTS (SELECT FROM pg_catalog.pg_database AS b
            WHERE b.datname = current_database() AND b.datcollate IN ('C', 'POSIX') AND coalesce(to_jsonb(b) ->> 'datlocprovider', 'c') = 'c')))::text || ' ' || atttypmod::text
    FROM tables JOIN pg_catalog.pg_attribute ON attrelid = tables.id WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'definition', nspname::text, relname::text, attname::text,
    concat_ws(' ', attrelid::text, attnum::text, atttypid::text, atttypmod::text, attcollation::text), concat_ws(' ', a.xmin::text, written::text, schema_written::text)
    FROM tables JOIN pg_catalog.pg_attribute AS a ON attrelid = tables.id WHERE attnum > 0
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it is no plain table (a view, a partitioned, foreign, temporary or unlogged one)', '', ''
    FROM tables WHERE relkind <> 'r' OR relpersistence <> 'p'
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it has row security', '', '' FROM tables WHERE relrowsecurity
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it has a rule: ' || rulename, '', ''
    FROM tables JOIN pg_catalog.pg_rewrite ON ev_class = tables.id
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it inherits from another table, or another from it', '', ''
    FROM tables WHERE EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE tables.id IN (inhrelid, inhparent))
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it has a trigger: ' || tgname, '', ''
    FROM tables JOIN pg_catalog.pg_trigger ON tgrelid = tables.id WHERE NOT tgisinternal
    AND NOT (tgname IN ('lacuna_guard', 'lacuna_guard_rows') AND tables.id IN (SELECT id FROM guards))
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'its guard triggers are missing, changed or not enabled: lacuna proxy init --guard makes them', '', ''
    FROM tables WHERE $5::text <> '' AND tables.id NOT IN (SELECT id FROM guards)
UNION ALL SELECT 'account', '', '', '', '', '' WHERE $5::text <> '' AND NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
-- What no trigger sees: rows are written anew, or triggers were off for a while.
UNION ALL SELECT 'version', 'guards', coalesce((SELECT string_agg(t.id::text || ' ' || t.relfilenode::text || ' ' || g.oid::text || ' ' || g.xmin::text, ' ' ORDER BY t.id, g.oid)
    FROM tables AS t JOIN pg_catalog.pg_trigger AS g ON g.tgrelid = t.id), ''), '', '', '' WHERE $5::text <> ''
-- The log has whole rows from before a change, and a message for each change of a definition.
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'the log has no whole rows of it from before a change: lacuna proxy init --log sets REPLICA IDENTITY FULL', '', ''
    FROM tables WHERE $6::text <> '' AND relreplident <> 'f'
UNION ALL SELECT 'trigger', '', '', '', '', '' WHERE $6::text <> '' AND NOT EXISTS (SELECT FROM pg_catalog.pg_event_trigger AS e
    JOIN pg_catalog.pg_proc AS f ON f.oid = e.evtfoid JOIN pg_catalog.pg_namespace AS n ON n.oid = f.pronamespace
    WHERE n.nspname = 'lacuna_log' AND f.proname = 'define' AND e.evtname = 'lacuna_log' AND e.evtevent = 'ddl_command_end' AND e.evtenabled = 'A' AND e.evttags IS NULL AND f.prosrc = $6::text
    AND NOT f.prosecdef AND f.proconfig = ARRAY['search_path=pg_catalog, pg_temp'])
UNION ALL SELECT 'streamer', rolname::text, '', '', '', '' FROM pg_catalog.pg_roles
    WHERE $6::text <> '' AND rolname = current_user AND NOT rolsuper AND NOT rolreplication
UNION ALL SELECT 'version', 'log', coalesce((SELECT string_agg(t.id::text || ' ' || t.relfilenode::text, ' ' ORDER BY t.id) FROM tables AS t), ''),
    coalesce((SELECT string_agg(e.oid::text || ' ' || e.xmin::text, ' ' ORDER BY e.oid) FROM pg_catalog.pg_event_trigger AS e WHERE e.evtname = 'lacuna_log'), ''), '', ''
    WHERE $6::text <> ''
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'its rows change with those of another table by the foreign key ' || conname, '', ''
    FROM tables JOIN pg_catalog.pg_constraint ON conrelid = tables.id
    WHERE contype = 'f' AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd'))
UNION ALL SELECT 'acts', nspname::text, relname::text, '', '', '' FROM tables
    WHERE EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE confrelid = tables.id AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd')))
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'a subscription writes it', '', ''
    FROM tables WHERE $6::text = '' AND EXISTS (SELECT FROM pg_catalog.pg_subscription_rel WHERE srrelid = tables.id)
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'a default, an index or a constraint of it calls a function that is not PostgreSQL''s own', '', ''
    FROM tables WHERE EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.refobjid >= 16384 AND (
        (d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid IN (SELECT oid FROM pg_catalog.pg_attrdef WHERE adrelid = tables.id))
        OR (d.classid = 'pg_catalog.pg_constraint'::regclass AND d.objid IN (SELECT oid FROM pg_catalog.pg_constraint WHERE conrelid = tables.id))
        OR (d.classid = 'pg_catalog.pg_class'::regclass AND d.objid IN (SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid = tables.id))))
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'a default, an index or a constraint of it has an operator or a type of a user', '', ''
    FROM tables WHERE EXISTS (SELECT FROM tainted WHERE tainted.id = tables.id)
UNION ALL SELECT 'added', 'functions', coalesce(string_agg(DISTINCT proname::text, chr(10) ORDER BY proname::text), ''), '', '', '' FROM own
    WHERE proname = ANY (string_to_array($3::text, chr(10))) OR (pronargs > 0 AND (pronargs - pronargdefaults <= 1 OR provariadic <> 0))
UNION ALL SELECT 'added', 'operators', coalesce(string_agg(DISTINCT oprname::text, chr(10) ORDER BY oprname::text), ''), '', '', '' FROM own_operators
UNION ALL SELECT 'added', 'types', coalesce(string_agg(DISTINCT typname::text, chr(10) ORDER BY typname::text), ''), '', '', ''
    FROM pg_catalog.pg_type WHERE oid IN (SELECT id FROM own_types)
UNION ALL SELECT 'added', 'relations', coalesce(string_agg(DISTINCT relname::text, chr(10) ORDER BY relname::text), ''), '', '', '' FROM pg_catalog.pg_class AS c
    WHERE c.oid >= 16384 AND c.relkind NOT IN ('i', 'I', 't', 'S') AND c.relpersistence <> 't' AND c.oid NOT IN (SELECT id FROM readable)
UNION ALL SELECT 'added', 'a cast of a user is a function', '', '', '', '' WHERE EXISTS (SELECT FROM pg_catalog.pg_cast AS c
    WHERE c.oid >= 16384 AND c.castfunc <> 0 AND (c.castfunc < 16384 OR c.castfunc IN (SELECT id FROM own)))
UNION ALL SELECT 'added', 'a user has added a check to a domain of PostgreSQL''s own', '', '', '', ''
    WHERE EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE oid >= 16384 AND contypid BETWEEN 1 AND 16383)
UNION ALL SELECT 'added', 'a user has added a function to pg_catalog', '', '', '', ''
    WHERE EXISTS (SELECT FROM own WHERE pronamespace = 'pg_catalog'::regnamespace)
UNION ALL SELECT 'added', 'a user has added a way to sort', '', '', '', '' WHERE EXISTS (SELECT FROM pg_catalog.pg_opclass AS c
    WHERE c.oid >= 16384 AND c.opcdefault AND c.oid NOT IN (SELECT id FROM extended WHERE catalogue = 'pg_catalog.pg_opclass'::regclass))
UNION ALL SELECT 'added', 'a user has changed a view of PostgreSQL''s own', '', '', '', '' WHERE EXISTS (SELECT FROM pg_catalog.pg_rewrite AS w
    JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid WHERE w.ev_class < 16384 AND d.refobjid >= 16384)
UNION ALL SELECT 'added', 'a user has changed a function of PostgreSQL''s own', '', '', '', '' WHERE EXISTS (SELECT FROM pg_catalog.pg_proc AS f
    WHERE f.oid < 16384 AND f.proname = ANY (string_to_array($3::text, chr(10)))
    AND f.prolang NOT IN (SELECT oid FROM pg_catalog.pg_language WHERE lanname IN ('c', 'internal', 'sql')))
UNION ALL SELECT 'added', 'a function of PostgreSQL''s own that is known here is volatile in this version', '', '', '', '' WHERE EXISTS (
    SELECT FROM pg_catalog.pg_proc WHERE oid < 16384 AND proname = ANY (string_to_array($4::text, chr(10))) AND provolatile = 'v')
-- Those that cannot log in may have a session from before.
UNION ALL SELECT 'writer', l.rolname::text, l.rolsuper::text, l.rolcanlogin::text, '', '' FROM pg_catalog.pg_roles AS l
    WHERE EXISTS (SELECT FROM may WHERE pg_has_role(l.oid, may.id, 'MEMBER'))
UNION ALL SELECT 'login', evtname::text, '', '', '', '' FROM pg_catalog.pg_event_trigger WHERE $6::text = '' AND evtevent = 'login' AND evtenabled <> 'D'
UNION ALL SELECT 'definer', f.oid::regprocedure::text, pg_get_userbyid(f.proowner)::text,
    (SELECT min(l.rolname) FROM logins AS l WHERE l.rolname NOT IN (SELECT name FROM allowed) AND has_function_privilege(l.id, f.oid, 'EXECUTE'))::text, '', ''
    FROM pg_catalog.pg_proc AS f WHERE f.prosecdef AND f.oid >= 16384 AND f.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
    AND EXISTS (SELECT FROM may WHERE pg_has_role(f.proowner, may.id, 'MEMBER'))
    AND EXISTS (SELECT FROM logins AS l WHERE l.rolname NOT IN (SELECT name FROM allowed) AND has_function_privilege(l.id, f.oid, 'EXECUTE'))
UNION ALL SELECT 'shadow', 'the operator ' || o.oid::regoperator::text, '', '', '', '' FROM pg_catalog.pg_operator AS o
    WHERE o.oid >= 16384 AND oprleft < 16384 AND oprright < 16384 AND (oprname IN ('=', '<>', '<', '<=', '>', '>=')
    -- What an extension brings may be another operator, and does not write.
    OR (oprname IN ('+', '-', '*', '/', '%', '||', '~~', '!~~', '~~*', '!~~*') AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d
        WHERE d.classid = 'pg_catalog.pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e')))
UNION ALL SELECT 'shadow', 'the function ' || f.oid::regprocedure::text, '', '', '', '' FROM pg_catalog.pg_proc AS f
    WHERE f.oid >= 16384 AND proname IN ('abs', 'avg', 'coalesce', 'count', 'greatest', 'least', 'length', 'lower', 'max', 'min', 'nullif',
    'round', 'sum', 'upper') AND 16384 > ALL (proargtypes::oid[])
UNION ALL SELECT 'shadow', 'the cast from ' || castsource::regtype::text || ' to ' || casttarget::regtype::text, '', '', '', ''
    FROM pg_catalog.pg_cast WHERE oid >= 16384 AND castsource < 16384 AND casttarget < 16384
UNION ALL SELECT 'independent', n.nspname::text, c.relname::text, '', '', '' FROM independent JOIN pg_catalog.pg_class AS c ON c.oid = independent.id
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
UNION ALL SELECT 'other', n.nspname::text, c.relname::text, '', '', '' FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname NOT LIKE 'pg\\_%' AND c.oid NOT IN (SELECT id FROM independent UNION ALL SELECT id FROM tables)
    AND (c.relkind NOT IN ('i', 'I', 't') OR c.relname IN (SELECT name FROM registered))
UNION ALL SELECT 'version', 'rights', coalesce((SELECT string_agg(id::text || ' ' || coalesce(relacl::text, '') || ' ' || relowner::text, ' ' ORDER BY id)
    FROM tables), ''), '', '', ''
UNION ALL SELECT 'version', 'columns', coalesce((SELECT string_agg(attrelid::text || ' ' || attnum::text || ' ' || atttypid::text || ' ' || atttypmod::text
    || ' ' || attcollation::text || ' ' || coalesce(attacl::text, ''), ' ' ORDER BY attrelid, attnum)
    FROM pg_catalog.pg_attribute WHERE attrelid IN (SELECT id FROM tables) AND attnum > 0 AND NOT attisdropped), ''), '', '', ''
UNION ALL SELECT 'version', 'schemas', (SELECT string_agg(oid::text || ' ' || nspname || ' ' || nspowner::text || ' ' || coalesce(nspacl::text, ''), ' ' ORDER BY oid)
    FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg\\_temp\\_%' AND nspname NOT LIKE 'pg\\_toast\\_temp\\_%'), '', '', ''
UNION ALL SELECT 'version', 'roles', (SELECT string_agg(oid::text || ' ' || rolname || ' ' || rolsuper::text || rolinherit::text || rolcanlogin::text, ' ' ORDER BY oid)
    FROM pg_catalog.pg_roles), '', '', ''
UNION ALL SELECT 'version', 'members', coalesce((SELECT string_agg(to_jsonb(m)::text, ' ' ORDER BY m.member, m.roleid, m.grantor)
    FROM pg_catalog.pg_auth_members AS m), ''), '', '', ''
UNION ALL SELECT 'version', 'server', pg_postmaster_start_time()::text, pg_conf_load_time()::text, current_setting('server_version_num'),
    -- Which cluster, and which of the histories that begin with promotions.
    (SELECT system_identifier FROM pg_catalog.pg_control_system())::text || ' '
        || CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END
UNION ALL SELECT 'start', to_char(timezone('UTC', pg_postmaster_start_time()), 'YYYY-MM-DD HH24:MI:SS.US'), current_database()::text, '', '', ''
UNION ALL SELECT 'standby', '', '', '', '', '' WHERE pg_is_in_recovery()
UNION ALL SELECT 'encoding', '', '', '', '', '' WHERE (SELECT pg_encoding_to_char(encoding) FROM pg_catalog.pg_database WHERE datname = current_database()) <> 'UTF8'
ORDER BY 1, 2, 3, 4, 5, 6";

/// Server processes, and prepared transactions of this database.
pub(in crate::cache) const ACTIVITY: &str = "
SELECT 'process', pid::text, coalesce(usename::text, ''), (datid IS NOT DISTINCT FROM (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))::text,
    coalesce(leader_pid::text, ''), '' FROM pg_catalog.pg_stat_activity WHERE pid <> pg_backend_pid()
UNION ALL SELECT 'prepared', gid, owner::text, '', '', '' FROM pg_catalog.pg_prepared_xacts WHERE database = current_database()";
