import type pg from 'pg'

const QUERIES = [
  `select format('table %s.%s%s', n.nspname, c.relname,
            coalesce(' partition of ' || i.inhparent::regclass || ' ' || pg_get_expr(c.relpartbound, c.oid), '')
            || coalesce(' partition by ' || pg_get_partkeydef(c.oid), '')
            || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')) || E'\\n' ||
          (select string_agg(format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
              case when a.attcollation <> 0 and a.attcollation <> 'pg_catalog."default"'::regcollation
                   then ' collate ' || a.attcollation::regcollation else '' end,
              case when a.attnotnull then ' not null' else '' end,
              case when a.attidentity <> '' and not c.relispartition then ' identity'
                   else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') end), E'\\n' order by a.attnum)
           from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as text
   from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_inherits i on i.inhrelid = c.oid
   where c.relkind in ('r', 'p') and n.nspname in ('public', 'worker') and c.relname not like 'kysely%'
   order by n.nspname, c.relname`,
  `select format('constraint %s on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(oid)) as text
   from pg_constraint
   where connamespace in ('public'::regnamespace, 'worker'::regnamespace) and contype <> 'n' and conrelid <> 0
     and conrelid::regclass::text not like 'kysely%'
   order by conrelid::regclass::text, conname`,
  `select pg_get_indexdef(i.indexrelid) as text
   from pg_index i join pg_class c on c.oid = i.indexrelid
   where c.relnamespace in ('public'::regnamespace, 'worker'::regnamespace) and c.relname not like 'kysely%'
     and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
   order by c.relname`,
  `select pg_get_triggerdef(t.oid) as text
   from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where c.relnamespace in ('public'::regnamespace, 'worker'::regnamespace) and not t.tgisinternal
   order by t.tgrelid::regclass::text, t.tgname`,
  `select pg_get_functiondef(p.oid) || coalesce(E'grants: ' ||
            (select string_agg(coalesce(r.rolname, 'public'), ', ' order by r.rolname)
             from aclexplode(p.proacl) acl left join pg_roles r on r.oid = acl.grantee
             where acl.grantee <> p.proowner), '') as text
   from pg_proc p
   where p.pronamespace in ('public'::regnamespace, 'worker'::regnamespace)
   order by p.pronamespace::regnamespace::text, p.proname, pg_get_function_identity_arguments(p.oid)`,
]

/** The schema from the catalogs, in a fixed order: the same text from every supported Postgres. */
export async function dumpSchema(client: pg.ClientBase): Promise<string> {
  const parts: string[] = []
  for (const query of QUERIES) {
    const { rows } = await client.query<{ text: string }>(query)
    parts.push(...rows.map((row) => row.text.trimEnd()))
  }
  return `${parts.join('\n\n')}\n`
}
