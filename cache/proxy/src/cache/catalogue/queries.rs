//! The two questions to the catalogue. Every row is six texts: a kind, and what belongs to it.
//!
//! The parameters of [`FACTS`] are the registered tables, a line each: schema, tab, table; and the roles that are allowed to
//! write, a line each. Objects of users have numbers from 16,384 on.

/// What [`super::Catalogue`] is made of.
pub(super) const FACTS: &str = "
WITH RECURSIVE registered (schema, name) AS (
    SELECT split_part(line, chr(9), 1), split_part(line, chr(9), 2) FROM unnest(string_to_array($1::text, chr(10))) AS line),
tables AS (
    SELECT c.oid AS id, c.*, n.nspname, n.nspowner FROM registered AS r JOIN pg_catalog.pg_namespace AS n ON n.nspname = r.schema
    JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = r.name),
-- Views and rules through which a table is reached, and the table itself.
paths (id) AS (
    SELECT id FROM tables UNION
    SELECT w.ev_class FROM paths AS p JOIN pg_catalog.pg_depend AS d
    ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = p.id AND d.classid = 'pg_catalog.pg_rewrite'::regclass
    JOIN pg_catalog.pg_rewrite AS w ON w.oid = d.objid),
may (id) AS (
    SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolsuper
    OR (r.rolcreaterole AND current_setting('server_version_num')::int < 160000)
    OR r.rolname IN ('pg_write_server_files', 'pg_execute_server_program')
    OR EXISTS (SELECT FROM paths AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.id
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE r.oid IN (c.relowner, n.nspowner) OR has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
        OR has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE'))),
logins AS (
    SELECT l.oid AS id, l.rolname, l.rolsuper, EXISTS (SELECT FROM may WHERE pg_has_role(l.oid, may.id, 'MEMBER')) AS may_write
    FROM pg_catalog.pg_roles AS l WHERE l.rolcanlogin),
allowed AS (SELECT unnest(string_to_array($2::text, chr(10))) AS name),
-- Tables whose writes do nothing elsewhere: no trigger, no rule, no row security, no foreign key that acts, nothing of users.
independent (id) AS (SELECT c.oid FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND NOT c.relrowsecurity AND NOT c.relhasrules
    AND c.oid NOT IN (SELECT id FROM tables)
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
    FROM tables JOIN pg_catalog.pg_attribute ON attrelid = tables.id WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it is no plain table (a view, a partitioned, foreign, temporary or unlogged one)', '', ''
    FROM tables WHERE relkind <> 'r' OR relpersistence <> 'p'
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it has row security', '', '' FROM tables WHERE relrowsecurity
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it has a rule: ' || rulename, '', ''
    FROM tables JOIN pg_catalog.pg_rewrite ON ev_class = tables.id
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it inherits from another table, or another from it', '', ''
    FROM tables WHERE EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE tables.id IN (inhrelid, inhparent))
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'it has a trigger: ' || tgname, '', ''
    FROM tables JOIN pg_catalog.pg_trigger ON tgrelid = tables.id WHERE NOT tgisinternal
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'its rows change with those of another table by the foreign key ' || conname, '', ''
    FROM tables JOIN pg_catalog.pg_constraint ON conrelid = tables.id
    WHERE contype = 'f' AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd'))
UNION ALL SELECT 'acts', nspname::text, relname::text, '', '', '' FROM tables
    WHERE EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE confrelid = tables.id AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd')))
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'a subscription writes it', '', ''
    FROM tables WHERE EXISTS (SELECT FROM pg_catalog.pg_subscription_rel WHERE srrelid = tables.id)
UNION ALL SELECT 'wrong', nspname::text, relname::text, 'a default, an index or a constraint of it calls a function that is not PostgreSQL''s own', '', ''
    FROM tables WHERE EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.refobjid >= 16384 AND (
        (d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid IN (SELECT oid FROM pg_catalog.pg_attrdef WHERE adrelid = tables.id))
        OR (d.classid = 'pg_catalog.pg_constraint'::regclass AND d.objid IN (SELECT oid FROM pg_catalog.pg_constraint WHERE conrelid = tables.id))
        OR (d.classid = 'pg_catalog.pg_class'::regclass AND d.objid IN (SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid = tables.id))))
UNION ALL SELECT 'writer', rolname::text, rolsuper::text, '', '', '' FROM logins WHERE may_write
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
UNION ALL SELECT 'version', 'members', coalesce((SELECT string_agg(m.member::text || ' ' || m.roleid::text || ' ' || m.admin_option::text, ' ' ORDER BY m.member, m.roleid, m.grantor)
    FROM pg_catalog.pg_auth_members AS m), ''), '', '', ''
UNION ALL SELECT 'version', 'server', pg_postmaster_start_time()::text, pg_conf_load_time()::text, current_setting('server_version_num'), ''
UNION ALL SELECT 'start', to_char(timezone('UTC', pg_postmaster_start_time()), 'YYYY-MM-DD HH24:MI:SS.US'), current_database()::text, '', '', ''
UNION ALL SELECT 'standby', '', '', '', '', '' WHERE pg_is_in_recovery()
UNION ALL SELECT 'encoding', '', '', '', '', '' WHERE (SELECT pg_encoding_to_char(encoding) FROM pg_catalog.pg_database WHERE datname = current_database()) <> 'UTF8'
ORDER BY 1, 2, 3, 4, 5, 6";

/// Server processes, and prepared transactions of this database.
pub(in crate::cache) const ACTIVITY: &str = "
SELECT 'process', pid::text, coalesce(usename::text, ''), (datid IS NOT DISTINCT FROM (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))::text,
    coalesce(leader_pid::text, ''), '' FROM pg_catalog.pg_stat_activity WHERE pid <> pg_backend_pid()
UNION ALL SELECT 'prepared', '', '', '', '', '' FROM pg_catalog.pg_prepared_xacts WHERE database = current_database()";
