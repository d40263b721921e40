import { basename, join } from 'node:path'
import type { Artifact } from '@scanfarm/contracts'
import { makeFolder } from '@scanfarm/platform'
import type { Command } from 'commander'
import type { Api } from '../../client/api.ts'
import { clientCommand, connect, printAnswer, type ClientOptions } from '../../client/connect.ts'
import { notWritten, saveBody } from '../../client/files.ts'
import { printTable, type Column } from '../../client/table.ts'
import { idArgument } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'

interface ArtifactsOptions extends ClientOptions {
  readonly download?: string
}

const COLUMNS: readonly Column<Artifact>[] = [
  { title: 'ID', value: (artifact) => artifact.id },
  { title: 'TYPE', value: (artifact) => artifact.artifact_type },
  { title: 'CONTENT', value: (artifact) => artifact.content_type },
  { title: 'BYTES', value: (artifact) => artifact.size_bytes },
  { title: 'NAME', value: (artifact) => artifact.name },
]

/** Names come from scanned machines: only the last part of the path is used, and the id makes it unique. */
const fileName = ({ id, name }: Artifact): string => {
  const last = basename(name)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\.+/, '')
  return `${id.slice(0, 8)}-${last || 'artifact'}`
}

const downloadOne = async (api: Api, run: string, artifact: Artifact, folder: string): Promise<string> => {
  const params = { path: { id: run, artifact_id: artifact.id } }
  const { response } = await api.with(({ GET }) =>
    GET('/runs/{id}/artifacts/{artifact_id}/content', { params, parseAs: 'stream' }),
  )
  const path = join(folder, fileName(artifact))
  await saveBody(response, path)
  return path
}

export const artifactsCommand = (terminal: Terminal): Command =>
  clientCommand('artifacts', 'List the artifacts of a run, or download them.')
    .argument('<run>', 'number or uuid', idArgument)
    .option('-d, --download <folder>', 'download all artifacts into this folder')
    .action(async (run: string, options: ArtifactsOptions) => {
      const api = connect(terminal, options)
      const page = await api.all('/runs/{id}/artifacts', { params: { path: { id: run } } })
      const folder = options.download
      if (folder === undefined)
        return printAnswer(terminal, options, page, ({ data }) => printTable(terminal, COLUMNS, data))
      await makeFolder(folder).catch((error: unknown) => {
        throw notWritten(folder, error)
      })
      for (const artifact of page.data.filter(({ content_type: type }) => type !== 'folder'))
        printLine(terminal, await downloadOne(api, run, artifact, folder))
    })
