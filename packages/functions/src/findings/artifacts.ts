import { basename, extname } from 'node:path'
import type { ContentType } from '@scanfarm/contracts'
import { reportPage } from '@scanfarm/findings'
import { local, NoResult, refused, type FunctionDefinition, type Call } from '../define.ts'
import { kindOf, writeText } from '../files/files.ts'
import { databaseOf } from './database-of.ts'

const CONTENT: Readonly<Record<string, ContentType>> = {
  '.json': 'json', '.jsonl': 'jsonl', '.yaml': 'yaml', '.yml': 'yaml', '.html': 'html', '.htm': 'html', '.md': 'md', '.markdown': 'md',
  '.log': 'log', '.pdf': 'pdf', '.png': 'png', '.txt': 'txt', '.csv': 'txt', '.zip': 'zip',
} // prettier-ignore

const TYPES: Readonly<Record<string, ContentType>> = {
  text: 'txt',
  txt: 'txt',
  jsonl: 'jsonl',
  json: 'json',
  markdown: 'md',
  md: 'md',
  html: 'html',
}

const artifact = async (at: Call, word: string): Promise<void> => {
  const path = at.path(0)
  const kind = await kindOf(path, at)
  if (kind === undefined) throw new NoResult(`file not found: ${at.text(0)}`)
  const contentType =
    kind === 'folder'
      ? 'folder'
      : (TYPES[word.toLowerCase()] ?? CONTENT[extname(path).toLowerCase()] ?? 'unknown')
  const type = word === 'screenshot' || word === 'report' ? word : 'output'
  at.recorder.artifact({ name: basename(path), path, type, contentType, description: '' })
}

/** Functions for artifacts, which need no database. */
export const ARTIFACT_FUNCTIONS: readonly FunctionDefinition[] = [
  local(
    'register_artifact(path, type?): bool or text',
    'Stores a file as an artifact of the run; requires no database. Returns a text `error: …` if the file does not exist.',
    (at) => artifact(at, at.text(1)),
  ),
  local(
    'store_artifact(path): bool or text',
    'Stores a file as an artifact of the run; requires no database. Returns a text `error: …` if the file does not exist.',
    (at) => artifact(at, ''),
  ),
]

/** The report of the run's workspace, which needs a server. */
export const REPORT_FUNCTION: FunctionDefinition = local(
  'write_report(dest?): bool',
  "Writes the report for a person about the run's workspace and job so far, as one page of HTML, and stores it as an artifact of the run; without a file as report.html in the output folder. What is gone is decided when a run ends, so it is not on the page.",
  async (at) => {
    const path = at.path(0, 'report.html')
    const madeAt = at.ports.now().toISOString()
    const facts = await databaseOf(at).report()
    await writeText(path, reportPage({ title: `Report of ${at.workspace}`, facts, madeAt }), at)
    const name = basename(path)
    at.recorder.artifact({ name, path, type: 'report', contentType: 'html', description: 'Report' })
  },
)

export const EXPORT_FUNCTIONS: readonly FunctionDefinition[] = [
  local('runtime_export(): true', 'Writes the state of the run to runtime-export.json.', async (at) => {
    const path = `${at.folders.output}/runtime-export.json`
    await writeText(
      path,
      JSON.stringify(
        {
          run_uuid: at.runUuid,
          target: at.target,
          workspace: at.workspace,
          exported_at: at.ports.now().toISOString(),
        },
        null,
        2,
      ),
      at,
    )
  }),
  refused(
    'db_reset_event_logs(workspace?, topic?)',
    'the server keeps event logs, and workflows cannot reset them',
    'the setting retention.event_days limits their age',
    'bool or text',
  ),
]
