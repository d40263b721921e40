import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { PageOf, PageRequest } from '../src/page.ts'
import { budget, infraDraft } from './cloud-fixtures.ts'
import { testDatabase } from './database.ts'
import { claimAll, draft, joined, submitted, targets, wipe, worker } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(async () => {
  await wipe(db.url)
  await db.sql('truncate vulnerabilities, assets, schedules, webhook_subscriptions cascade')
})

const ROWS = 12
const MIB = 1024 * 1024
/** The largest page as JSON: the limit of 8 MiB of text, and the other columns of its rows. */
const MOST = 8.5 * MIB
const TEXT = `repeat('x', ${MIB})`
const many = (table: string, columns: string, values: string, rows = ROWS) =>
  db.sql(`insert into ${table} (${columns}) select ${values} from generate_series(1, ${rows}) n`)

/** A record has a row about its last sighting. */
const seen = (kind: 'finding' | 'asset', table: string) =>
  db.sql(`insert into ${kind}_sightings (${kind}_id, last_seen, times_seen${kind === 'finding' ? ', occurrences' : ''})
    select id, now(), 1${kind === 'finding' ? ', 1' : ''} from ${table}`)

type Read = (page: PageRequest) => Promise<PageOf<unknown>>

/** Reads a list to its end, by cursor or by offset. */
const readAll = async (read: Read, by: 'cursor' | 'offset'): Promise<PageOf<unknown>[]> => {
  const pages: PageOf<unknown>[] = []
  for (let page: PageRequest = { offset: 0, limit: 100 }; ;) {
    const answer = await read(page)
    pages.push(answer)
    if (answer.nextCursor === undefined || pages.length > ROWS) return pages
    page =
      by === 'cursor'
        ? { ...page, cursor: answer.nextCursor }
        : { ...page, offset: page.offset + answer.data.length }
  }
}

const bounded = async (read: Read, ways: readonly ('cursor' | 'offset')[] = ['cursor', 'offset']) => {
  for (const by of ways) {
    const pages = await readAll(read, by)
    expect(pages.length).toBeGreaterThan(1)
    for (const { data, truncated, nextCursor, total } of pages) {
      expect(JSON.stringify(data).length).toBeLessThan(MOST)
      expect(truncated).toBe(nextCursor !== undefined)
      expect(total).toBe(ROWS)
    }
    const all = pages.flatMap(({ data }) => data.map((item) => JSON.stringify(item)))
    expect(new Set(all).size).toBe(ROWS)
    expect(all).toHaveLength(ROWS)
  }
}

const EVENT = `insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
  processed, processed_at) select 'custom.big', 'evt_' || n, 'big', 'api', 'custom', `

describe('large rows', () => {
  test('Pages of event logs end at their limit of bytes', async () => {
    await db.sql(`${EVENT} ${TEXT}, '', '', '', true, now() from generate_series(1, ${ROWS}) n`)
    await bounded((page) => db.store.events.list({}, page))
    await bounded((page) => db.store.events.list({ topic: 'custom.big' }, page))
  })

  test('Pages of runs of several jobs with large params end at their limit of bytes', async () => {
    for (let n = 0; n < ROWS; n += 1) await submitted(db.store, { workflowName: 'big' }, targets(1))
    await db.sql(`update jobs set params = jsonb_build_object('note', ${TEXT})`)
    await bounded((page) => db.store.runs.list({}, page))
    await bounded((page) => db.store.runs.list({ workflowName: 'big', status: 'queued' }, page))
  })

  test('Pages of runs of one job with large params end at their limit of bytes', async () => {
    await submitted(db.store, {}, targets(ROWS))
    await db.sql(`update jobs set params = jsonb_build_object('note', ${TEXT})`)
    await bounded((page) => db.store.runs.list({}, page))
  })

  test('Pages of steps and artifacts of a run end at their limit of bytes', async () => {
    await submitted(db.store)
    const [run] = await claimAll(db.store, db.runStore, await joined(db.runStore))
    if (run === undefined) throw new Error('nothing was claimed')
    await many(
      'steps',
      'run_id, attempt, seq, id, name, type, module, status, command, output, error_message, exports, duration_ms, log_file',
      `${run.runId}, ${run.attempt}, n, gen_random_uuid(), 'step ' || n, 'bash', '', 'running', '', ${TEXT}, '', '{}', 0, ''`,
    )
    await many(
      'artifacts',
      'run_id, attempt, id, name, path, type, content_type, size_bytes, line_count, store_key, sha256, description',
      `${run.runId}, ${run.attempt}, gen_random_uuid(), 'same name', '/f', 'output', 'txt', 1, 1, 'k', 's', ${TEXT}`,
    )
    const found = <T>(part: PageOf<T> | undefined): PageOf<T> => {
      if (part === undefined) throw new Error('no run')
      return part
    }
    await bounded(async ({ cursor }) => found(await db.store.runs.steps(run.runUuid, cursor)), ['cursor'])
    await bounded(async ({ cursor }) => found(await db.store.runs.artifacts(run.runUuid, cursor)), ['cursor'])
    const steps = found(await db.store.runs.steps(run.runUuid)).data.map((step) => step.step_name)
    expect(steps.slice(0, 3)).toEqual(['step 1', 'step 2', 'step 3'])
  })

  test('Pages and exports of vulnerabilities end at their limit of bytes', async () => {
    await many(
      'vulnerabilities',
      `workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence, asset_type, asset_value, tags,
       detail_http_request, detail_http_response, raw_vuln_json, holds, source`,
      `'w', '', '', '', '', 'high', 'Firm', '', '', '{}', '', ${TEXT}, '', false, 'api'`,
    )
    await seen('finding', 'vulnerabilities')
    await bounded((page) => db.store.vulnerabilities.list({}, page))
    const exported = await db.store.vulnerabilities.newestBelow({}, undefined, 100)
    expect(exported.length).toBeLessThan(9)
  })

  test('Pages of assets end at their limit of bytes', async () => {
    await many(
      'assets',
      `workspace, asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type, technologies,
       open_ports, dns_records, remarks, raw_json_data, asset_hash, source`,
      `'w', 'http', 'a', '', '', '', 200, '', '', '{}', '{}', '{}', '{}', ${TEXT}, sha256(n::text::bytea), 'api'`,
    )
    await seen('asset', 'assets')
    await bounded((page) => db.store.assets.list({}, page))
  })

  test('Pages of schedules end at their limit of bytes', async () => {
    await many(
      'schedules',
      `id, name, workflow_name, workflow_kind, target, workspace, params, trigger_type, schedule, event_topic,
       watch_path, spec, is_enabled`,
      `'sch_' || n, 'n', 'w', 'flow', '', '', jsonb_build_object('note', ${TEXT}), 'cron', '* * * * *', '', '', '{}', true`,
    )
    await bounded((page) => db.store.schedules.list(page))
  })

  test('Pages of webhook deliveries end at their limit of bytes', async () => {
    await many(
      'webhook_subscriptions',
      'name, url, topics, filters, format, secret, enabled',
      `'n', 'u', '{}', '{}', 'json', 's', true`,
      1,
    )
    await many(
      'webhook_deliveries',
      'subscription_id, event_no, event_id, topic, status, last_error',
      `(select max(id) from webhook_subscriptions), n, 'e', 't', 'pending', ${TEXT}`,
    )
    await bounded((page) => db.store.webhooks.deliveries({}, page))
  })

  test('Pages of infrastructures end at their limit of bytes', async () => {
    for (let n = 0; n < ROWS; n += 1) await db.store.cloud.request(infraDraft(), budget())
    await db.sql(`update cloud_instances set message = repeat('x', ${MIB / 2})`)
    await bounded((page) => db.store.cloud.list({}, page))
  })

  test('Pages of workers end at their limit of bytes', async () => {
    for (let n = 0; n < ROWS; n += 1) await db.runStore.join(worker())
    await db.sql(`update workers set capabilities = array[${TEXT}]`)
    await bounded(({ cursor }) => db.store.workers.list(cursor), ['cursor'])
  })
})

describe('rows of any size', () => {
  test('A page has at least one row, however large that row is', async () => {
    await db.sql(`${EVENT} '{}', '', '', '', true, now() from generate_series(1, 2) n`)
    await db.sql(`update event_logs set error = repeat('x', ${10 * MIB})`)
    const first = await db.store.events.list({}, { offset: 0, limit: 10 })
    expect(first.data).toHaveLength(1)
    const second = await db.store.events.list({}, { offset: 0, limit: 10, cursor: first.nextCursor ?? '' })
    expect(second).toMatchObject({ data: [{ topic: 'custom.big' }], truncated: false, nextCursor: undefined })
    expect(second.data).toHaveLength(1)
  })

  test('A page of small rows has as many rows as its limit allows', async () => {
    await submitted(db.store, draft(), targets(30))
    const page = await db.store.runs.list({}, { offset: 0, limit: 30 })
    expect(page.data).toHaveLength(30)
    expect(page.truncated).toBe(false)
  })
})
