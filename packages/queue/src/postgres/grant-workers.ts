import { DEFAULT_SCHEMA } from 'bullmq'
import type pg from 'pg'

/** The role that the migrations of the database make for the logins of workers. */
const WORKER_ROLE = 'scanfarm_worker'

/**
 * Lets workers use the tables of the queue, new ones of an upgrade included: messages are hints, so whoever may change
 * them can delay runs and nothing else. Does nothing where the role does not exist, or is not ours to give to.
 */
export async function grantWorkers(client: pg.ClientBase): Promise<void> {
  await client.query(GRANTS)
}

const GRANTS = `
do $$
begin
  if not exists (select from pg_roles where rolname = '${WORKER_ROLE}') then return; end if;
  -- Masters that start together would be in each other's way.
  perform pg_advisory_xact_lock(hashtext('scanfarm queue grants'));
  grant usage on schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
  grant select, insert, update, delete on all tables in schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
  grant usage on all sequences in schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
  grant execute on all functions in schema ${DEFAULT_SCHEMA} to ${WORKER_ROLE};
exception
  when insufficient_privilege then
    raise notice 'the queue was not opened to ${WORKER_ROLE}: this login does not own it';
end $$`
