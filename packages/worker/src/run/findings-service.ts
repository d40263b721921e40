import type { AssetContent, FindingContent, FoundRecords, RunKey, RunStore } from '@scanfarm/contracts'
import { assetOf, findingOf, NAMES_REACHED, openReport, type Batch } from '@scanfarm/findings'
import type { DatabaseService, ImportCounts } from '@scanfarm/functions'
import type { Json } from '@scanfarm/language'

type Rows = readonly Record<string, Json>[]

/** Records in one statement. A step may report any number of them. */
const MAX_WRITE = 500
/** Most records that one call of a function reads. */
const MAX_READ = 10_000
const MAX_RUNS = 1_000
/** Source of rows that name no tool. */
const NO_SOURCE = 'workflow'

/** Undefined means that the run belongs to another worker; this attempt is being stopped. */
const owned = <T>(answer: T | undefined): T => {
  if (answer === undefined) throw new Error('this run belongs to another worker now')
  return answer
}

const add = (a: ImportCounts, b: ImportCounts): ImportCounts => ({
  new: a.new + b.new,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
  errors: a.errors + b.errors,
})

/** The database for the functions of one attempt: every write carries the run and the attempt. */
export const findingsService = (
  store: RunStore,
  run: RunKey,
  /** Params of the run that select what it scans. */
  scope: Readonly<Record<string, string>>,
): DatabaseService => {
  const saveAll = async (found: Omit<FoundRecords, 'scope'>): Promise<ImportCounts> => {
    let counts: ImportCounts = { new: 0, updated: 0, unchanged: 0, errors: 0 }
    for (const part of inParts({ ...found, scope }))
      counts = add(counts, owned(await store.importRecords(run, part)))
    return counts
  }

  const importAssets: DatabaseService['importAssets'] = async (workspace, rows, by) => {
    const groups = Map.groupBy(rows, sourceOf)
    // Report empty imports too, so that missing records can be marked as gone.
    if (groups.size === 0) groups.set(NO_SOURCE, [])
    let counts: ImportCounts = { new: 0, updated: 0, unchanged: 0, errors: 0 }
    for (const [source, group] of groups) {
      const items = group.map(assetOf).filter((item) => item !== undefined)
      const errors = group.length - items.length
      counts = add(counts, await saveAll({ ...by, workspace, source, records: assets(items), errors }))
    }
    return counts
  }

  const importVulnerabilities: DatabaseService['importVulnerabilities'] = async (workspace, rows, by) => {
    const items = rows.map(findingOf).filter((item) => item !== undefined)
    const errors = rows.length - items.length
    return saveAll({ ...by, workspace, source: NO_SOURCE, records: vulnerabilities(items), errors })
  }

  const importReport: DatabaseService['importReport'] = async (workspace, given, report, by) => {
    const opened = report && (await openReport(given, report))
    const format = opened?.format ?? given
    const source = format ?? NO_SOURCE
    // Hosts that a report does not name did not answer, unless the step names them.
    const named = by.reached ?? (format !== undefined && NAMES_REACHED.has(format) ? [] : undefined)
    const save = async (batch: Batch, reached: readonly string[] | undefined): Promise<ImportCounts> => {
      const found = { step: by.step, workspace, source, reached }
      const { errors } = batch
      // Errors count for both kinds, so that neither is taken for a complete scan, but only once in the result.
      const ofAssets = await saveAll({ ...found, records: assets(batch.assets), errors })
      const rest = await saveAll({ ...found, records: vulnerabilities(batch.vulnerabilities), errors })
      return add(ofAssets, { ...rest, errors: 0 })
    }
    // Report empty imports too, so that missing records can be marked as gone.
    let counts = await save({ vulnerabilities: [], assets: [], reached: [], errors: 0 }, named)
    for await (const batch of opened?.batches ?? [])
      counts = add(counts, await save(batch, by.reached === undefined ? named && batch.reached : []))
    return counts
  }

  const read =
    (kind: 'asset' | 'vulnerability') =>
    async (workspace: string, filter: Record<string, string>): Promise<Record<string, Json>[]> =>
      owned(await store.readRecords(run, { kind, workspace, filter, limit: MAX_READ })) as Record<
        string,
        Json
      >[]

  return {
    importAssets,
    importVulnerabilities,
    importReport,
    assets: read('asset'),
    vulnerabilities: read('vulnerability'),
    count: async (workspace, name, by) => owned(await store.addToCounter(run, { workspace, name, add: by })),
    runStatus: async ({ workspace = '', runUuid = '' }) =>
      owned(await store.readRuns(run, { workspace, runUuid, limit: MAX_RUNS })) as Record<string, Json>[],
  }
}

/** At least one part, so that an empty import is reported. The first part has the errors and the hosts. */
function* inParts(found: FoundRecords): Generator<FoundRecords> {
  const { records } = found
  for (let from = 0; from === 0 || from < records.items.length; from += MAX_WRITE) {
    const range = [from, from + MAX_WRITE] as const
    const part =
      records.kind === 'asset'
        ? assets(records.items.slice(...range))
        : vulnerabilities(records.items.slice(...range))
    const first = { errors: found.errors, reached: found.reached }
    yield { ...found, records: part, ...(from === 0 ? first : { errors: 0, reached: undefined }) }
  }
}

const sourceOf = (row: Rows[number]): string => {
  const { source } = row
  return typeof source === 'string' && source !== '' ? source : NO_SOURCE
}

const assets = (items: readonly AssetContent[]) => ({ kind: 'asset', items }) as const
const vulnerabilities = (items: readonly FindingContent[]) => ({ kind: 'vulnerability', items }) as const
