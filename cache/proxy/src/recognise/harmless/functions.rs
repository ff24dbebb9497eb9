//! Functions of PostgreSQL's own that change no table, and words of the language that stand before a bracket.

/// Words of the language before a bracket.
pub(super) const LANGUAGE: &str = "\
    all and any array as between by case cast char character coalesce collation cube distinct else except exists \
    explain extract filter from greatest grouping having in intersect is join lateral least like ilike limit \
    materialized not nullif offset on or over overlay partition position rollup row select sets similar some \
    substring then trim union using values varying when where within group order operator";

/// Types before a bracket, as in `numeric(10, 2)` and `varchar(20)`; a type of a user is found by its name.
pub(super) const TYPES: &str = "\
    bit bpchar decimal interval numeric time timestamp timestamptz timetz varchar";

/// Fields of what functions return, which no function has as its name.
pub(super) const FIELDS: &str = "\
    keys n typid x";

/// Functions that are stable or immutable, and neither read a table by a name in a text nor take a statement as one. Of each
/// name all forms are.
pub(super) const FUNCTIONS: &str = "\
    abs age ascii bit_length btrim bool ceil ceiling char_length character_length chr concat concat_ws date \
    date_part date_trunc decode degrees div encode exp float4 float8 floor format initcap int2 int4 int8 \
    isfinite justify_days left length ln log lower lpad ltrim make_date make_interval md5 mod name now \
    octet_length oid parse_ident pi power quote_ident quote_literal quote_nullable radians regexp_match \
    regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table repeat replace reverse right round \
    rpad rtrim sign split_part sqrt starts_with statement_timestamp strpos substr text timezone to_char to_date \
    to_hex to_number to_timestamp transaction_timestamp translate trunc upper width_bucket array_agg \
    array_append array_cat array_length array_lower array_ndims array_position array_prepend array_remove \
    array_to_json array_to_string array_upper avg bit_and bit_or bool_and bool_or cardinality count cume_dist \
    dense_rank every first_value generate_series generate_subscripts json_agg json_array_elements \
    json_array_length json_build_array json_build_object json_each json_object_agg json_typeof jsonb_agg \
    jsonb_array_elements jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_object_agg \
    jsonb_typeof lag last_value lead max min mode ntile num_nonnulls percent_rank percentile_cont \
    percentile_disc rank row_number row_to_json stddev string_agg string_to_array sum to_json to_jsonb unnest \
    variance _pg_expandarray aclexplode col_description current_database current_schema current_schemas \
    current_setting format_type has_any_column_privilege has_column_privilege has_database_privilege \
    has_function_privilege has_schema_privilege has_table_privilege obj_description pg_backend_pid \
    pg_encoding_to_char pg_function_is_visible pg_get_constraintdef pg_get_expr pg_get_function_arguments \
    pg_get_function_identity_arguments pg_get_function_result pg_get_functiondef pg_get_indexdef \
    pg_get_partkeydef pg_get_ruledef pg_get_serial_sequence pg_get_statisticsobjdef_columns pg_get_triggerdef \
    pg_get_userbyid pg_get_viewdef pg_has_role pg_size_pretty pg_table_is_visible pg_type_is_visible pg_typeof \
    shobj_description to_regclass to_regtype version acldefault pg_char_to_encoding pg_client_encoding \
    pg_collation_is_visible pg_conversion_is_visible pg_get_function_sqlbody pg_get_partition_constraintdef \
    pg_get_replica_identity_index pg_get_statisticsobjdef pg_index_column_has_property pg_opclass_is_visible \
    pg_operator_is_visible pg_opfamily_is_visible pg_options_to_table pg_partition_root \
    pg_postmaster_start_time pg_relation_filenode pg_relation_is_publishable pg_statistics_obj_is_visible \
    pg_tablespace_location has_tablespace_privilege has_sequence_privilege \
    has_type_privilege to_regnamespace to_regproc to_regprocedure to_regrole inet_client_addr inet_server_addr \
    inet_server_port pg_column_size";

/// Functions that are volatile, and change no table: a clock, a die, an hourglass, and what looks at files and at the state of
/// the server.
pub(super) const VOLATILE: &str = "\
    clock_timestamp gen_random_uuid pg_sleep random timeofday pg_database_size pg_indexes_size pg_is_in_recovery \
    pg_partition_ancestors pg_relation_size pg_table_size pg_total_relation_size";

/// Whether a list has the name.
pub(super) fn has(list: &str, name: &str) -> bool {
    list.split(' ').any(|listed| listed == name)
}
