import { basename, extname } from 'node:path'
import type { ContentType } from '@scanfarm/contracts'
import type { Json } from '@scanfarm/language'
import { fn, NoResult, refused, textArg, type FunctionContext, type FunctionDefinition } from '../define.ts'
import { kindOf, pathArg, writeText } from '../files/files.ts'

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

const artifact = async (args: readonly Json[], at: FunctionContext, word: string): Promise<Json> => {
  const path = pathArg(args, 0, at)
  const kind = await kindOf(path, at)
  if (kind === undefined) throw new NoResult(`file not found: ${textArg(args, 0)}`)
  const contentType =
    kind === 'folder'
      ? 'folder'
      : (TYPES[word.toLowerCase()] ?? CONTENT[extname(path).toLowerCase()] ?? 'unknown')
  const type = word === 'screenshot' || word === 'report' ? word : 'output'
  at.recorder.artifact({ name: basename(path), path, type, contentType, description: '' })
  return true
}

/** Functions for artifacts, which need no database. */
export const ARTIFACT_FUNCTIONS: readonly FunctionDefinition[] = [
  fn(
    'register_artifact(path, type?)',
    'bool or text',
    'Stores a file as an artifact of the run; requires no database. Returns a text `error: …` if the file does not exist.',
    async (args, at) => await artifact(args, at, textArg(args, 1)),
  ),
  fn(
    'store_artifact(path)',
    'bool or text',
    'Stores a file as an artifact of the run; requires no database. Returns a text `error: …` if the file does not exist.',
    async (args, at) => await artifact(args, at, ''),
  ),
]

export const EXPORT_FUNCTIONS: readonly FunctionDefinition[] = [
  fn('runtime_export()', 'true', 'Writes the state of the run to runtime-export.json.', async (_args, at) => {
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
    return true
  }),
  refused(
    'db_reset_event_logs(workspace?, topic?)',
    'the server keeps event logs, and workflows cannot reset them',
    'the setting retention.event_days limits their age',
    'bool or text',
  ),
]
