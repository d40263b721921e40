import type { ContentType } from '@scanfarm/contracts'
import { messageOf, type Report } from '@scanfarm/language'
import { isThere, runPath } from '@scanfarm/functions'
import { renderPlain } from '../step/render.ts'
import type { Run } from './run.ts'
import type { Scope } from './scope.ts'

const CONTENT: Readonly<Record<string, ContentType>> = {
  text: 'txt',
  csv: 'txt',
  json: 'json',
  jsonl: 'jsonl',
  yaml: 'yaml',
  html: 'html',
  markdown: 'md',
  md: 'md',
  log: 'log',
  pdf: 'pdf',
  png: 'png',
  zip: 'zip',
  folder: 'folder',
}

/** Records the files that a workflow declares as reports. Missing files only cause a warning. */
export const registerReports = async (run: Run, reports: readonly Report[], scope: Scope): Promise<void> => {
  const { recorder } = run.input
  if (reports.length > 0) {
    await run.files.beforeLocal().catch((error: unknown) => recorder.log('warn', messageOf(error)))
  }
  for (const { name = '', path = '', type = '', description = '', optional } of reports) {
    if (path === '') continue
    const rendered = renderPlain(path, scope)
    const file = runPath(rendered, run.input)
    const exists = await isThere(file, run.input).catch((error: unknown) => {
      recorder.log('warn', `report '${name}': ${messageOf(error)}`)
      return undefined
    })
    if (exists !== true) {
      if (exists === false && optional !== true) recorder.log('warn', `report '${name}' is missing: ${file}`)
      continue
    }
    const contentType = CONTENT[type]
    recorder.artifact({
      name,
      path: file,
      type: 'report',
      ...(contentType === undefined ? {} : { contentType }),
      description: renderPlain(description, scope),
    })
  }
}
