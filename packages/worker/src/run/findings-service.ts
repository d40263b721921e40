import {
  addImports,
  NOTHING_IMPORTED,
  type AssetContent,
  type FindingContent,
  type FoundRecords,
  type ImportProblem,
  type ImportSummary,
  type NotTested,
  type RunKey,
  type RunStore,
} from '@scanfarm/contracts'
import {
  assetOf,
  findingOf,
  NAMES_REACHED,
  NEVER_EMPTY,
  nucleiMiss,
  openReport,
  type Batch,
} from '@scanfarm/findings'
import type { DatabaseService, ImportedBy } from '@scanfarm/functions'
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

/** The part of the database that functions use. */
type RecordStore = Pick<
  RunStore,
  'importRecords' | 'knownFolder' | 'readRecords' | 'readRuns' | 'readReport' | 'addToCounter'
>

/** The database for the functions of one attempt: every write carries the run and the attempt. */
export const findingsService = (
  store: RecordStore,
  run: RunKey,
  /** Params of the run that select what it scans. */
  scope: Readonly<Record<string, string>>,
): DatabaseService => {
  let parts = 0
  const saveAll = async (
    { importId, step, reached, untested }: ImportedBy,
    found: Omit<FoundRecords, 'scope' | 'part' | 'step'>,
  ): Promise<ImportSummary> => {
    let counts = NOTHING_IMPORTED
    for (const records of inParts({
      step,
      reached,
      ...found,
      ...(untested && withUntested(found, untested)),
      scope,
    })) {
      const part = { of: importId, no: ++parts }
      counts = addImports(counts, owned(await store.importRecords(run, { ...records, part })))
    }
    return counts
  }

  const importAssets: DatabaseService['importAssets'] = async (workspace, rows, by) => {
    const groups = Map.groupBy(rows, sourceOf)
    // Report empty imports too, so that missing records can be marked as gone.
    if (groups.size === 0) groups.set(NO_SOURCE, [])
    let counts = NOTHING_IMPORTED
    for (const [source, group] of groups) {
      const items = group.map(assetOf).filter((item) => item !== undefined)
      const errors = group.length - items.length
      counts = addImports(counts, await saveAll(by, { workspace, source, records: assets(items), errors }))
    }
    return counts
  }

  const importVulnerabilities: DatabaseService['importVulnerabilities'] = async (workspace, rows, by) => {
    const misses = rows.map(nucleiMiss)
    const found = rows.filter((_, at) => misses[at] === undefined)
    const items = found.map(findingOf).filter((item) => item !== undefined)
    // Records of a host that nuclei could not test stay open.
    const failures = misses.filter((miss) => miss !== undefined && miss.error !== '')
    const hosts = failures.map((miss) => miss?.host ?? '').filter((host) => host !== '')
    const errors = found.length - items.length + failures.length
    const saved = await saveAll(by, {
      workspace,
      source: NO_SOURCE,
      failed: { hosts, files: [] },
      records: vulnerabilities(items),
      errors: errors - hosts.length,
    })
    return { ...saved, errors }
  }

  const importReport: DatabaseService['importReport'] = async (workspace, given, report, by) => {
    const known = (findings: readonly FindingContent[]) => store.knownFolder(run, workspace, findings)
    const opened = report && (await openReport(given, report, by.root, known))
    const format = opened?.format ?? given
    const source = format ?? NO_SOURCE
    // Hosts that a report does not name did not answer, unless the step names them.
    const named = by.reached ?? (format !== undefined && NAMES_REACHED.has(format) ? [] : undefined)
    const later = { ...by, untested: undefined }
    // Errors and failures count for both kinds, so that neither is taken for a complete scan.
    const save = async (batch: Batch, reached: readonly string[] | undefined): Promise<ImportSummary> => {
      const found = {
        workspace,
        source,
        reached,
        failed: batch.failed,
        errors: batch.errors - batch.failures,
      }
      const ofAssets = await saveAll(later, { ...found, records: assets(batch.assets) })
      const ofFindings = await saveAll(later, { ...found, records: vulnerabilities(batch.vulnerabilities) })
      return { ...addImports(ofAssets, ofFindings), errors: batch.errors }
    }
    // Report empty imports too, so that missing records can be marked as gone.
    const isMissing = opened === undefined && format !== undefined && NEVER_EMPTY.has(format)
    const problems: ImportProblem[] = isMissing
      ? [{ reason: `the file is empty: reports of ${format} never are, so the scan failed` }]
      : []
    const nothing = { workspace, source, reached: named, errors: problems.length }
    await saveAll(by, { ...nothing, records: assets([]) })
    await saveAll(by, { ...nothing, records: vulnerabilities([]) })
    let counts = { ...NOTHING_IMPORTED, errors: problems.length }
    for await (const batch of opened?.batches ?? []) {
      counts = addImports(counts, await save(batch, by.reached === undefined ? named && batch.reached : []))
      problems.push(...batch.problems)
    }
    return { ...counts, problems }
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
    report: async () => owned(await store.readReport(run)),
  }
}

const withUntested = (
  { failed = { hosts: [], files: [] } }: Pick<FoundRecords, 'failed'>,
  untested: readonly NotTested[],
): Pick<FoundRecords, 'failed' | 'namesUntested'> => ({
  failed: { ...failed, places: [...(failed.places ?? []), ...untested] },
  namesUntested: true,
})

/** At least one part, so that an empty import is reported. The first part has the errors and the hosts. */
function* inParts({ reached, failed, ...found }: FoundRecords): Generator<FoundRecords> {
  const { records } = found
  for (let from = 0; from === 0 || from < records.items.length; from += MAX_WRITE) {
    const range = [from, from + MAX_WRITE] as const
    const part =
      records.kind === 'asset'
        ? assets(records.items.slice(...range))
        : vulnerabilities(records.items.slice(...range))
    yield { ...found, records: part, ...(from === 0 ? { reached, failed } : { errors: 0 }) }
  }
}

const sourceOf = (row: Rows[number]): string => {
  const { source } = row
  return typeof source === 'string' && source !== '' ? source : NO_SOURCE
}

const assets = (items: readonly AssetContent[]) => ({ kind: 'asset', items }) as const
const vulnerabilities = (items: readonly FindingContent[]) => ({ kind: 'vulnerability', items }) as const
