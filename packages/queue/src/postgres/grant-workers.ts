import { DEFAULT_SCHEMA } from 'bullmq'
import type pg from 'pg'

/** The role for the logins of workers, which the migration of the store creates. */
const WORKER_ROLE = 'scanfarm_worker'

/**
 * Grants workers access to the tables of the queue, including new ones of an upgrade. Messages are hints: a login that
 * changes them can delay runs, and nothing else. Does nothing if the role does not exist or this login may not grant.
 */
export async function grantWorkers(client: pg.ClientBase): Promise<void> {
  await client.query(GRANTS)
}

const GRANTS = `
do $$
begin
  if not exists (select from pg_roles where rolname = '${WORKER_ROLE}') then return; end if;
  loop
    begin
      grant usage on schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
      grant select, insert, update, delete on all tables in schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
      grant usage on all sequences in schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
      grant execute on all functions in schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
      return;
    exception
      -- A master that starts at the same time has granted them meanwhile.
      when internal_error then
        if sqlerrm <> 'tuple concurrently updated' then raise; end if;
    end;
  end loop;
exception
  when insufficient_privilege then
    raise notice '${WORKER_ROLE} was not granted access to the queue: this login does not own its schema';
end $$`
