import { artifactOptions, openArtifactStore } from '@scanfarm/artifacts'
import type { Logger } from '@scanfarm/platform'
import type { BaseDatabase, Store } from '@scanfarm/store'
import { openLibrary } from '@scanfarm/engine'
import { withStore } from '../../operations/store-operations.ts'
import { openBase } from './database.ts'
import { importFiles } from './files.ts'
import { importFindings } from './findings.ts'
import { readLayout, type BaseLayout } from './layout.ts'
import { newPart, type BaseReport, type PartReport } from './report.ts'
import { importRuns, importSteps } from './runs.ts'
import { importSettings } from './settings.ts'
import { importWorkflows } from './workflows.ts'
import type { Config } from '../../settings.ts'

export const BASE_PARTS = ['settings', 'workflows', 'runs', 'findings', 'files'] as const
export type BasePart = (typeof BASE_PARTS)[number]

export interface ImportBaseOptions {
  readonly folder: string
  /** Overrides the workspaces folder in the settings of the base folder. */
  readonly workspaces?: string
  readonly parts: readonly BasePart[]
  readonly dryRun: boolean
}

const schedulesOf = async (base: BaseDatabase): Promise<PartReport[]> => {
  const found = await base.count('schedules')
  if (found === 0) return []
  const notes = ['create them with `scanfarm schedules` or POST /schedules: importing them would start scans']
  return [{ ...newPart('schedules'), found, left_out: found, notes }]
}

const importParts = async (
  layout: BaseLayout,
  { parts, dryRun }: ImportBaseOptions,
  { history }: Store,
  config: Config,
): Promise<PartReport[]> => {
  const wants = (part: BasePart): boolean => parts.includes(part)
  const library = await openLibrary([layout.workflows])
  const reports: PartReport[] = []
  const [folder] = config.workflows.folders
  if (wants('workflows') && folder !== undefined)
    reports.push(await importWorkflows(layout.workflows, folder, library, dryRun))
  const wantsRecords = wants('runs') || wants('findings')
  await using base = wantsRecords ? await openBase(layout) : undefined
  if (base === undefined && wantsRecords)
    reports.push({
      ...newPart('database'),
      notes: [`${layout.database.file} does not exist: no records were imported`],
    })
  if (base !== undefined && wants('runs')) {
    const { report, numbers } = await importRuns(base, library, history, dryRun)
    reports.push(report, await importSteps(base, numbers, history, dryRun), ...(await schedulesOf(base)))
  }
  if (base !== undefined && wants('findings')) reports.push(...(await importFindings(base, history, dryRun)))
  if (wants('files')) {
    await using artifacts = openArtifactStore(artifactOptions(config.artifacts))
    const to = { history, artifacts, maxBytes: config.artifacts.maxBytes, dryRun }
    await using forNames = wantsRecords ? undefined : await openBase(layout).catch(() => undefined)
    reports.push(await importFiles(layout, base ?? forNames, to))
  }
  return reports
}

/**
 * Imports workflows, records and files of an Osmedeus base folder into a farm, which may be in use. Existing records
 * are not changed, so the import can be repeated. The base folder is not changed.
 */
export const importBase = async (
  config: Config,
  log: Logger,
  options: ImportBaseOptions,
): Promise<BaseReport> => {
  const layout = readLayout(options.folder, options.workspaces)
  const { settings, yaml } = options.parts.includes('settings')
    ? importSettings(layout)
    : { settings: [], yaml: '' }
  const parts = options.parts.some((part) => part !== 'settings')
    ? await withStore(config, log, (store) => importParts(layout, options, store, config))
    : []
  return { folder: layout.folder, dry_run: options.dryRun, parts, settings, settings_yaml: yaml }
}
