import { basename, dirname, join } from 'node:path'
import {
  local,
  sending,
  NoResult,
  type FunctionContext,
  type FunctionGroup,
  type Run,
  type Call,
} from '../define.ts'
import { isThere, kindOf, makeFolder, filePath, programPath, writeLines, writeText } from './files.ts'
import { removeTree } from '../paths/remove.ts'
import { REPLACE_FUNCTIONS } from './replace.ts'
import { MAX_ITEMS } from './file.ts'
import { Distinct, linesOf } from './lines.ts'
import { checkPath } from '../paths/run-folder.ts'
import { extract, tar, zip, zipContents } from './archives.ts'
import { must } from './must.ts'

const sortUnique: Run = async (context) => {
  const source = await programPath(context, 0)
  const withSafePath = context.text(1) === ''
  const dest = withSafePath ? source : await programPath(context, 1, 'write')
  if (withSafePath) await checkPath(source, context, 'write')
  if (!(await isThere(source, context))) return false
  await makeFolder(dirname(dest), context)
  await must(context, ['env', 'LC_ALL=C', 'sort', '-u', '-o', dest, '--', source])
  return true
}

const download: Run = async (context) => {
  const url = context.text(0)
  if (!/^(https?|ftp):\/\//i.test(url)) throw new NoResult('not an address of http, https or ftp')
  const dest = context.path(1, basename(new URL(url).pathname) || 'index.html')
  await checkPath(dest, context, 'write')
  await makeFolder(dirname(dest), context)
  const { exitCode } = await context.exec(['/bin/sh', '-c', 'command -v curl'])
  await must(
    context,
    exitCode === 0
      ? ['curl', '-fsSL', '--retry', '2', '-o', dest, '--', url]
      : ['wget', '-q', '-O', dest, '--', url],
  )
}

const repository = async (text: string, context: FunctionContext): Promise<string> => {
  if (!/^(https?:\/\/|git@|ssh:\/\/|file:\/\/|\/)/.test(text))
    throw new NoResult('not the address of a repository')
  const [, path] = /^(?:file:\/\/)?(\/.*)$/s.exec(text) ?? []
  if (path !== undefined) await checkPath(path, context, 'read')
  return text
}

const clone = async (url: string, dest: string, context: FunctionContext): Promise<string> =>
  await must(context, ['git', 'clone', '--depth', '1', '--', url, dest])

const cloneInto: Run = async (context) => {
  const url = await repository(context.text(0), context)
  const dest = context.path(1, basename(url, '.git'))
  await checkPath(dest, context, 'write')
  await makeFolder(dirname(dest), context)
  await clone(url, dest, context)
}

const cloneSubfolder: Run = async (context) => {
  const scratch = join(context.folders.temp, `clone-${context.ports.uuid()}`)
  const sub = context.text(1)
  if (sub.split('/').includes('..')) throw new NoResult('the subfolder must lie inside of the repository')
  const dest = await programPath(context, 2, 'write')
  try {
    await makeFolder(dirname(scratch), context)
    await clone(await repository(context.text(0), context), scratch, context)
    if ((await kindOf(join(scratch, sub), context)) !== 'folder')
      throw new NoResult(`the repository has no folder ${sub}`)
    await removeTree(dest, context)
    await makeFolder(dest, context)
    await must(context, ['cp', '-R', '--', `${join(scratch, sub)}/.`, dest])
  } finally {
    await removeTree(scratch, context)
  }
}

const difference = async (context: Call): Promise<string> => {
  const known = new Distinct()
  for await (const line of linesOf(context.path(0), context)) known.add(line)
  const fresh: string[] = []
  for await (const line of linesOf(context.path(1), context)) {
    if (known.has(line)) continue
    if (fresh.push(line) > MAX_ITEMS) throw new Error(`more than ${MAX_ITEMS} lines are new; use diff_unix`)
  }
  return fresh.join('\n')
}

/** Runs `sed` with the author's expression and writes the result to a file. */
const sed: Run = async (context) => {
  const script = 'sed -e "$0" -- "$1" > "$2.tmp" && mv -- "$2.tmp" "$2"'
  const source = await programPath(context, 1)
  const dest = await programPath(context, context.text(2) === '' ? 1 : 2, 'write')
  await must(context, ['/bin/sh', '-c', script, context.text(0), source, dest])
}

const diff: Run = async (context) => {
  const [file1, file2] = [context.text(0), context.text(1)]
  const common = { file1, file2 }
  if (file1 === '' || file2 === '')
    return { ...common, error: 'empty file paths provided', message: 'error', output: '', line_count: 0 }
  const [a, b] = [await programPath(context, 0), await programPath(context, 1)]
  const { stdout: output, stderr, exitCode } = await context.exec(['diff', '--', a, b])
  if (exitCode > 1 || exitCode < 0) context.recorder.log('warn', `diff_unix: ${stderr.trim()}`)
  const lines = output === '' ? [] : output.replace(/\n$/, '').split('\n')
  if (context.text(2) !== '') await writeText(context.path(2), output, context)
  return { ...common, error: null, message: 'success', output, line_count: lines.length }
}

const NAME = /([a-z0-9]\.|[_a-z0-9][_a-z0-9-]{0,61}[a-z0-9]\.)+[a-z]{2,61}/i
/** The rest of an escaped character before a name, like `2f` of `%2f`. */
const ESCAPED = /^(u[0-9a-f]{4}|20|22|25|2b|2f|3d|3a|40)/
const LIKE_ADDRESS = /\d{1,3}\.\d{1,3}\.\d{1,3}\.|\d{1,3}-\d{1,3}-\d{1,3}/
/** Maximum number of characters of a line that are searched for a name. */
const MAX_NAME_LINE = 4096

/** The first host name in a line, or "". */
const hostNameIn = (line: string): string => {
  let name = NAME.exec(line.slice(0, MAX_NAME_LINE))?.[0].toLowerCase() ?? ''
  for (let before = ''; before !== name;) {
    before = name
    name = name.replaceAll(/^[-.]+|[-.]+$/g, '').replace(ESCAPED, '')
  }
  return LIKE_ADDRESS.test(name) ? '' : name
}

const cleanSubdomains: Run = async (context) => {
  const path = await filePath(context, 0)
  const suffix = context.text(1).trim().toLowerCase()
  const names = async function* () {
    const seen = new Distinct()
    for await (const line of linesOf(path, context)) {
      const name = hostNameIn(line)
      const wanted = suffix === '' || name === suffix || name.endsWith(`.${suffix}`)
      if (name !== '' && wanted && seen.add(name)) yield name
    }
  }
  await writeLines(path, names(), context)
}

export const UNIX_FUNCTIONS: FunctionGroup = {
  title: 'Unix tools, archives and differences',
  functions: [
    local(
      'sort_unix(source, dest?): bool',
      'Sorts bytewise and removes duplicate lines, in place without dest; false if the file does not exist.',
      sortUnique,
    ),
    sending('wget_unix(url, dest?): bool', 'Downloads a file.', download),
    sending('wget(url, dest): bool', 'Downloads a file.', download),
    sending('git_clone(repository, dest?): bool', 'Clones the newest state of a repository.', cloneInto),
    sending(
      'git_clone_subfolder(repository, folder, dest): bool',
      'Copies one folder of a repository.',
      cloneSubfolder,
    ),
    local('zip_unix(source, dest): bool', 'Makes a zip archive, with the path as it is written.', zip),
    local('unzip_unix(archive, dest?): bool', 'Unpacks a zip archive.', extract(false)),
    local('tar_unix(source, dest): bool', 'Makes a tar archive, compressed with gzip, or by its name.', tar),
    local('untar_unix(archive, dest?): bool', 'Unpacks a tar archive.', extract(false)),
    local('zip_dir(folder, dest): bool', 'Creates a zip archive of the content of a folder.', zipContents),
    local('unzip_dir(archive, dest): bool', 'Unpacks a zip archive.', extract(false)),
    local(
      'extract_to(archive, dest): bool',
      'Unpacks an archive of any format; dest is removed first.',
      extract(true),
    ),
    local(
      'diff_unix(a, b, dest?): object',
      'The output of diff with further fields: error, message, output, file1, file2, line_count; also written to dest.',
      diff,
    ),
    local('extract_diff(a, b): text', 'The lines that are only in b.', difference),
    ...REPLACE_FUNCTIONS,
    sending(
      'sed_unix(expression, source, dest?): bool',
      'Runs sed with any expression, in place without dest.',
      sed,
    ),
    local(
      'clean_sub(path, target?): bool',
      'Cleans a file of host names in place: keeps the first name of each line in lower case, without duplicates, only those under target. False if the file does not exist.',
      cleanSubdomains,
    ),
    local(
      'snapshot_export(workspace, dest?): text',
      'Packs the folder of the workspace; returns the path of the archive.',
      async (context) => {
        const { folders } = context
        const name = context.text(0, context.workspace)
        if (!/^[\w.-]+$/.test(name)) throw new NoResult('not the name of a workspace')
        const source = name === context.workspace ? folders.output : join(dirname(folders.output), name)
        const dest =
          context.text(1) === '' ? join(folders.temp, `${name}.zip`) : await programPath(context, 1, 'write')
        await checkPath(source, context, 'read')
        if ((await kindOf(source, context)) !== 'folder') throw new NoResult(`${source} is not a folder`)
        await makeFolder(dirname(dest), context)
        await must(context, ['zip', '-q', '-r', dest, basename(source)], dirname(source))
        return dest
      },
    ),
    local(
      'snapshot_import(archive): text',
      'Unpacks a packed workspace into the folder of the run; returns the name of the workspace.',
      async (context) => {
        const archive = await programPath(context, 0)
        await must(context, ['unzip', '-q', '-o', archive, '-d', context.folders.output])
        return context.workspace
      },
    ),
  ],
}
