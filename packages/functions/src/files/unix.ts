import { basename, dirname, join } from 'node:path'
import type { Json } from '@scanfarm/language'
import { fn, NoResult, textArg, type FunctionContext, type FunctionGroup, type Run } from '../define.ts'
import {
  isThere,
  kindOf,
  makeFolder,
  mustBeFile,
  pathArg,
  programPath,
  writeLines,
  writeText,
} from './files.ts'
import { removeTree } from '../paths/remove.ts'
import { REPLACE_FUNCTIONS } from './replace.ts'
import { MAX_ITEMS } from './file.ts'
import { Distinct, linesOf } from './lines.ts'
import { checkPath } from '../paths/run-folder.ts'
import { extract, tar, zip, zipContents } from './archives.ts'
import { must } from './must.ts'

const run =
  (argv: (args: readonly Json[], context: FunctionContext) => Promise<readonly string[]>): Run =>
  async (args, context) => {
    await must(context, await argv(args, context))
  }

const sortUnique: Run = async (args, context) => {
  const source = await programPath(args, 0, context)
  const withSafePath = textArg(args, 1) === ''
  const dest = withSafePath ? source : await programPath(args, 1, context, 'write')
  if (withSafePath) await checkPath(source, context, 'write')
  if (!(await isThere(source, context))) return false
  await makeFolder(dirname(dest), context)
  await must(context, ['env', 'LC_ALL=C', 'sort', '-u', '-o', dest, '--', source])
  return true
}

const download: Run = async (args, context) => {
  const url = textArg(args, 0)
  if (!/^(https?|ftp):\/\//i.test(url)) throw new NoResult('not an address of http, https or ftp')
  const dest =
    textArg(args, 1) === ''
      ? join(context.folders.output, basename(new URL(url).pathname) || 'index.html')
      : pathArg(args, 1, context)
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

const cloneInto: Run = async (args, context) => {
  const url = await repository(textArg(args, 0), context)
  const dest =
    textArg(args, 1) === '' ? join(context.folders.output, basename(url, '.git')) : pathArg(args, 1, context)
  await checkPath(dest, context, 'write')
  await makeFolder(dirname(dest), context)
  await must(context, ['git', 'clone', '--depth', '1', '--', url, dest])
}

const cloneSubfolder: Run = async (args, context) => {
  const scratch = join(context.folders.temp, `clone-${context.ports.uuid()}`)
  const sub = textArg(args, 1)
  if (sub.split('/').includes('..')) throw new NoResult('the subfolder must lie inside of the repository')
  const dest = await programPath(args, 2, context, 'write')
  try {
    await makeFolder(dirname(scratch), context)
    await must(context, [
      'git',
      'clone',
      '--depth',
      '1',
      '--',
      await repository(textArg(args, 0), context),
      scratch,
    ])
    if ((await kindOf(join(scratch, sub), context)) !== 'folder')
      throw new NoResult(`the repository has no folder ${sub}`)
    await removeTree(dest, context)
    await makeFolder(dest, context)
    await must(context, ['cp', '-R', '--', `${join(scratch, sub)}/.`, dest])
  } finally {
    await removeTree(scratch, context)
  }
}

const difference = async (args: readonly Json[], context: FunctionContext): Promise<string> => {
  const known = new Distinct()
  for await (const line of linesOf(pathArg(args, 0, context), context)) known.add(line)
  const fresh: string[] = []
  for await (const line of linesOf(pathArg(args, 1, context), context)) {
    if (known.has(line)) continue
    if (fresh.push(line) > MAX_ITEMS) throw new Error(`more than ${MAX_ITEMS} lines are new; use diff_unix`)
  }
  return fresh.join('\n')
}

/** Runs `sed` with the author's expression and writes the result to a file. */
const sed = async (args: readonly Json[], context: FunctionContext): Promise<string[]> => [
  '/bin/sh',
  '-c',
  'sed -e "$0" -- "$1" > "$2.tmp" && mv -- "$2.tmp" "$2"',
  textArg(args, 0),
  await programPath(args, 1, context),
  await programPath(args, textArg(args, 2) === '' ? 1 : 2, context, 'write'),
]

const diff: Run = async (args, context) => {
  const [file1, file2] = [textArg(args, 0), textArg(args, 1)]
  const common = { file1, file2 }
  if (file1 === '' || file2 === '')
    return { ...common, error: 'empty file paths provided', message: 'error', output: '', line_count: 0 }
  const [a, b] = [await programPath(args, 0, context), await programPath(args, 1, context)]
  const { stdout: output, stderr, exitCode } = await context.exec(['diff', '--', a, b])
  if (exitCode > 1 || exitCode < 0) context.recorder.log('warn', `diff_unix: ${stderr.trim()}`)
  const lines = output === '' ? [] : output.replace(/\n$/, '').split('\n')
  if (textArg(args, 2) !== '') await writeText(pathArg(args, 2, context), output, context)
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

const cleanSubdomains: Run = async (args, context) => {
  const path = pathArg(args, 0, context)
  await mustBeFile(path, context)
  const suffix = textArg(args, 1).trim().toLowerCase()
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
    fn(
      'sort_unix(source, dest?): bool',
      'Sorts bytewise and removes duplicate lines, in place without dest; false if the file does not exist.',
      sortUnique,
    ),
    fn('wget_unix(url, dest?): bool', 'Downloads a file.', download),
    fn('wget(url, dest): bool', 'Downloads a file.', download),
    fn('git_clone(repository, dest?): bool', 'Clones the newest state of a repository.', cloneInto),
    fn(
      'git_clone_subfolder(repository, folder, dest): bool',
      'Copies one folder of a repository.',
      cloneSubfolder,
    ),
    fn('zip_unix(source, dest): bool', 'Makes a zip archive, with the path as it is written.', zip),
    fn('unzip_unix(archive, dest?): bool', 'Unpacks a zip archive.', extract(false)),
    fn('tar_unix(source, dest): bool', 'Makes a tar archive, compressed with gzip, or by its name.', tar),
    fn('untar_unix(archive, dest?): bool', 'Unpacks a tar archive.', extract(false)),
    fn('zip_dir(folder, dest): bool', 'Creates a zip archive of the content of a folder.', zipContents),
    fn('unzip_dir(archive, dest): bool', 'Unpacks a zip archive.', extract(false)),
    fn(
      'extract_to(archive, dest): bool',
      'Unpacks an archive of any format; dest is removed first.',
      extract(true),
    ),
    fn(
      'diff_unix(a, b, dest?): object',
      'The output of diff with further fields: error, message, output, file1, file2, line_count; also written to dest.',
      diff,
    ),
    fn('extract_diff(a, b): text', 'The lines that are only in b.', difference),
    ...REPLACE_FUNCTIONS,
    fn(
      'sed_unix(expression, source, dest?): bool',
      'Runs sed with any expression, in place without dest.',
      run(sed),
    ),
    fn(
      'clean_sub(path, target?): bool',
      'Cleans a file of host names in place: keeps the first name of each line in lower case, without duplicates, only those under target. False if the file does not exist.',
      cleanSubdomains,
    ),
    fn(
      'snapshot_export(workspace, dest?): text',
      'Packs the folder of the workspace; returns the path of the archive.',
      async (args, context) => {
        const { folders } = context
        const name = textArg(args, 0, context.workspace)
        if (!/^[\w.-]+$/.test(name)) throw new NoResult('not the name of a workspace')
        const source = name === context.workspace ? folders.output : join(dirname(folders.output), name)
        const dest =
          textArg(args, 1) === ''
            ? join(folders.temp, `${name}.zip`)
            : await programPath(args, 1, context, 'write')
        await checkPath(source, context, 'read')
        if ((await kindOf(source, context)) !== 'folder') throw new NoResult(`${source} is not a folder`)
        await makeFolder(dirname(dest), context)
        await must(context, ['zip', '-q', '-r', dest, basename(source)], dirname(source))
        return dest
      },
    ),
    fn(
      'snapshot_import(archive): text',
      'Unpacks a packed workspace into the folder of the run; returns the name of the workspace.',
      async (args, context) => {
        await must(context, [
          'unzip',
          '-q',
          '-o',
          await programPath(args, 0, context),
          '-d',
          context.folders.output,
        ])
        return context.workspace
      },
    ),
  ],
}
