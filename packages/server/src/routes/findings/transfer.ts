import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  closed,
  addImports,
  AppError,
  FINDING_LIMITS,
  ImportProblem,
  ImportSummary,
  MAX_IMPORT_PROBLEMS,
  NOTHING_IMPORTED,
  type Vulnerability,
} from '@scanfarm/contracts'
import {
  EXPORT_FORMATS,
  EXPORT_KINDS,
  formOf,
  IMPORT_FORMATS,
  openReport,
  writeFindings,
  type Batch,
} from '@scanfarm/findings'
import { SaveQueues, type Store, type VulnerabilityFilter } from '@scanfarm/store'
import { Type } from 'typebox'
import { attachment, bytes } from '../../http/answer.ts'
import { receiveBody } from '../../http/body/receive-file.ts'
import { route } from '../../http/route.ts'
import { vulnerabilityFilter, vulnerabilityQuery } from './vulnerabilities.ts'

const MAX_IMPORT_BYTES = 1024 * 1024 * 1024
/** Records of an export in memory at once. */
const EXPORT_PAGE = 100

export const importVulnerabilities = route(
  {
    endpoint: 'POST /vulnerabilities/import',
    summary: 'Import the findings of a scanner',
    description:
      'The file is the body, or the field `file` of a form. Known records are updated, not duplicated; importing the same file again only changes when they were seen. Records are saved in batches: those before an error are kept.',
    role: 'operator',
    query: closed({
      workspace: Type.String({ minLength: 1, maxLength: FINDING_LIMITS.workspace, pattern: '\\S' }),
      format: Type.Optional(
        Type.Enum([...IMPORT_FORMATS], {
          description: `${IMPORT_FORMATS.map(formOf).join(', ')}. Default: recognised by the start of the file`,
        }),
      ),
      root: Type.Optional(
        Type.String({
          maxLength: 4096,
          description:
            'The folder that was scanned: absolute paths of files in it become relative. Default: what the report names, or the folder that all files have in common',
        }),
      ),
    }),
    file: { description: 'The file, at most 1 GiB' },
    responses: {
      200: Type.Object({
        message: Type.String(),
        workspace: Type.String(),
        format: Type.String(),
        vulnerabilities: ImportSummary,
        assets: Type.Omit(ImportSummary, ['errors']),
        problems: Type.Array(ImportProblem, {
          maxItems: MAX_IMPORT_PROBLEMS,
          description: 'The reasons of the first errors',
        }),
      }),
    },
    errors: ['payload_too_large', 'unsupported_media_type', 'unavailable'],
  },
  async ({ store, imports }, { query: { workspace, format: named, root }, http }) => {
    using _slot = imports.acquire()
    const outcome = await receiveBody(http.stream, MAX_IMPORT_BYTES, async (body) => {
      let vulnerabilities = NOTHING_IMPORTED
      let assets = NOTHING_IMPORTED
      let failures = 0
      const problems: ImportProblem[] = []
      const { format, batches } = await openReport(named, body, root, (findings) =>
        store.vulnerabilities.knownFolder(workspace, findings),
      )
      const of = randomUUID()
      await using queues = new SaveQueues()
      await using assetQueues = new SaveQueues()
      const save = async (batch: Batch, no: number): Promise<void> => {
        const saved = await Promise.all([
          store.vulnerabilities.import(workspace, format, batch.vulnerabilities, { of, no }, queues),
          store.assets.import(workspace, format, batch.assets, assetQueues),
        ])
        vulnerabilities = addImports(vulnerabilities, saved[0])
        assets = addImports(assets, saved[1])
      }
      let no = 0
      let earlier = Promise.resolve()
      for await (const batch of batches) {
        failures += batch.failures
        problems.push(...batch.problems)
        vulnerabilities = addImports(vulnerabilities, { ...NOTHING_IMPORTED, errors: batch.errors })
        // The database works on one batch while the next is prepared.
        const saved = save(batch, (no += 1))
        saved.catch(() => undefined)
        await earlier
        earlier = saved
      }
      await earlier
      return { format, vulnerabilities, assets, problems, failures }
    })
    const { failures, assets: withErrors, ...answer } = outcome
    const { errors, ...used } = addImports(outcome.vulnerabilities, withErrors)
    // Otherwise a file of another format would look like a scan without findings.
    if (errors > failures && used.new + used.known === 0)
      throw useless(outcome.format, errors, outcome.problems)
    const { errors: _, ...assets } = withErrors
    return { message: 'Findings imported', workspace, ...answer, assets }
  },
)

const useless = (format: string, errors: number, problems: readonly ImportProblem[]): AppError =>
  new AppError(
    'invalid_input',
    `none of the ${errors} records is a finding in the format ${format}, or the scan that it reports failed`,
    {
      details: [
        { path: '/format', message: 'does not match the file' },
        ...problems.map(({ reason, line }) => ({
          path: line === undefined ? '/file' : `/file/${line}`,
          message: reason,
        })),
      ],
    },
  )

export const exportVulnerabilities = route(
  {
    endpoint: 'GET /vulnerabilities/export',
    summary: 'Export vulnerabilities as a file',
    description: 'All records that match the filters are exported.',
    role: 'viewer',
    query: closed({
      ...vulnerabilityQuery,
      format: Type.Enum([...EXPORT_FORMATS], {
        description: 'sarif (2.1.0), csv, jsonl, defectdojo (generic findings), openvex (0.2.0)',
      }),
    }),
    responses: {
      200: {
        media: [...new Set(EXPORT_FORMATS.map((format) => EXPORT_KINDS[format].contentType))],
        description: 'The file',
      },
    },
    errors: ['bad_request'],
  },
  async ({ store }, { query: { format, ...query } }) => {
    const { contentType, extension } = EXPORT_KINDS[format]
    const pages = pagesOf(store, await vulnerabilityFilter(store, query))
    return bytes(200, Readable.from(await begun(writeFindings(format, pages))), {
      'Content-Type': contentType,
      'Content-Disposition': attachment(`vulnerabilities.${extension}`),
    })
  },
)

/** The same parts. Rejects if the first one fails, as long as an error can still be the answer. */
const begun = async (parts: AsyncIterable<string>): Promise<AsyncIterable<string>> => {
  const rest = parts[Symbol.asyncIterator]()
  const first = await rest.next()
  return (async function* () {
    if (first.done !== true) yield first.value
    yield* { [Symbol.asyncIterator]: () => rest }
  })()
}

async function* pagesOf(
  { vulnerabilities }: Pick<Store, 'vulnerabilities'>,
  filter: VulnerabilityFilter,
): AsyncGenerator<readonly Vulnerability[]> {
  for (let below: number | undefined; ;) {
    const page = await vulnerabilities.newestBelow(filter, below, EXPORT_PAGE)
    below = page.at(-1)?.id
    // A page of large records is short, so only an empty page is the end.
    if (below === undefined) return
    yield page
  }
}
