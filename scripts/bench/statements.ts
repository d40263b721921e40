import type { Database } from './cluster.ts'

/** Settings of a Postgres that can count statements. */
export const COUNTABLE = { shared_preload_libraries: 'pg_stat_statements' }

export interface Statement {
  readonly text: string
  readonly calls: number
  /** Elapsed time, with that of the statements that it calls. */
  readonly ms: number
  readonly top: boolean
}

/** The calls of a function of the worker, and the sum of their items. */
export interface Batches {
  readonly name: string
  readonly calls: number
  readonly items: number
}

export interface Counted {
  readonly statements: readonly Statement[]
  readonly batches: readonly Batches[]
}

/** What Postgres counts; by default it counts the statements of clients. */
export async function track(db: Database, which: 'none' | 'all'): Promise<void> {
  await db.rows(`alter system set pg_stat_statements.track = '${which}'`)
  await db.rows('select pg_reload_conf()')
}

/** Counts statements, and the items that workers pass to functions. It slows Postgres down, so measure the time of runs before. */
export async function countStatements(db: Database, work: () => Promise<unknown>): Promise<Counted> {
  await db.rows(COUNT_ITEMS)
  await db.rows('create extension if not exists pg_stat_statements')
  await track(db, 'all')
  await db.rows('truncate bench_calls')
  await db.rows('select pg_stat_statements_reset()')
  await work()
  return { statements: await db.rows<Statement>(STATEMENTS), batches: await db.rows<Batches>(BATCHES) }
}

const STATEMENTS = `
select regexp_replace(query, '\\s+', ' ', 'g') as text, sum(calls)::float as calls, sum(total_exec_time) as ms,
       toplevel as top
from pg_stat_statements where query !~ 'bench_calls|pg_stat_statements|worker.counted_'
group by 1, 4 order by 3 desc`

const BATCHES = `
select name, count(*)::float as calls, sum(items)::float as items from bench_calls group by name order by 2 desc`

/**
 * Puts a function in front of each one that workers call with a list: it notes the length of the list. Functions
 * that have one already are left alone.
 */
const COUNT_ITEMS = `
create unlogged table if not exists bench_calls (name text not null, items int not null);
do $do$
declare
  f record;
begin
  for f in
    select p.proname as name, pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result,
           (select string_agg('$' || n, ', ') from generate_series(1, p.pronargs) n) as passed,
           pg_get_function_identity_arguments(p.oid) as identity, list.length
    from pg_proc p
    cross join lateral (
      select case when t.typcategory = 'A' then format('cardinality($%s)', n)
                  else format('case jsonb_typeof($%1$s) when ''array'' then jsonb_array_length($%1$s) end', n) end as length
      from unnest(p.proargtypes::oid[]) with ordinality as a(type, n) join pg_type t on t.oid = a.type
      where t.typcategory = 'A' or t.typname = 'jsonb' order by n limit 1) list
    where p.pronamespace = 'worker'::regnamespace and not p.proretset and p.proname not like 'counted%'
      and not exists (select from pg_proc c where c.pronamespace = p.pronamespace and c.proname = 'counted_' || p.proname)
  loop
    execute format('alter function worker.%I(%s) rename to %I', f.name, f.identity, 'counted_' || f.name);
    execute format($f$create function worker.%I(%s) returns %s language sql as
      $body$ insert into public.bench_calls values (%L, coalesce(%s, 1)); select worker.%I(%s) $body$ $f$,
      f.name, f.arguments, f.result, f.name, f.length, 'counted_' || f.name, f.passed);
  end loop;
end $do$`
