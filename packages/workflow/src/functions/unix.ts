import { basename, dirname, join } from 'node:path'
import type { Json } from '../model.ts'
import { fn, textArg, type FunctionContext, type FunctionGroup } from './define.ts'
import { isThere, makeFolder, pathArg, programPath, writeLines } from './files.ts'
import { removeTree } from './remove.ts'
import { MAX_ITEMS } from './file.ts'
import { Distinct, linesOf } from './lines.ts'
import { checkPath } from './run-folder.ts'

/** Runs a program; its failure is the function's error. */
const must = async (context: FunctionContext, argv: readonly string[], cwd?: string): Promise<string> => {
  const { exitCode, stdout, stderr, problem } = await context.exec(argv, cwd === undefined ? {} : { cwd })
  if (exitCode === 0) return stdout
  const reason = stderr.trim() || problem || `exit code ${exitCode}`
  throw new Error(`${argv[0] ?? ''}: ${reason.slice(0, 500)}`)
}

const run =
  (argv: (args: readonly Json[], context: FunctionContext) => Promise<readonly string[]>) =>
  async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
    await must(context, await argv(args, context))
    return true
  }

const sortUnique = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const source = await programPath(args, 0, context)
  const dest = args[1] === undefined ? source : await programPath(args, 1, context, 'write')
  if (args[1] === undefined) await checkPath(source, context, 'write')
  if (!(await isThere(source, context))) return false
  await makeFolder(dirname(dest), context)
  await must(context, ['env', 'LC_ALL=C', 'sort', '-u', '-o', dest, '--', source])
  return true
}

const download = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const url = textArg(args, 0)
  if (!/^(https?|ftp):\/\//i.test(url)) throw new Error('not an address of http, https or ftp')
  const dest =
    args[1] === undefined
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
  return true
}

const repository = async (text: string, context: FunctionContext): Promise<string> => {
  if (!/^(https?:\/\/|git@|ssh:\/\/|file:\/\/|\/)/.test(text))
    throw new Error('not the address of a repository')
  const [, path] = /^(?:file:\/\/)?(\/.*)$/s.exec(text) ?? []
  if (path !== undefined) await checkPath(path, context, 'read')
  return text
}

const cloneInto = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const url = await repository(textArg(args, 0), context)
  const dest =
    args[1] === undefined ? join(context.folders.output, basename(url, '.git')) : pathArg(args, 1, context)
  await checkPath(dest, context, 'write')
  await makeFolder(dirname(dest), context)
  await must(context, ['git', 'clone', '--depth', '1', '--', url, dest])
  return true
}

const cloneSubfolder = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const scratch = join(context.folders.temp, `clone-${context.ports.uuid()}`)
  const sub = textArg(args, 1)
  if (sub.split('/').includes('..')) throw new Error('the subfolder must lie inside of the repository')
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
    await makeFolder(dest, context)
    await must(context, ['cp', '-R', '--', `${join(scratch, sub)}/.`, dest])
  } finally {
    await removeTree(scratch, context)
  }
  return true
}

const zip = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const [source, dest] = [await programPath(args, 0, context), await programPath(args, 1, context, 'write')]
  await makeFolder(dirname(dest), context)
  await must(context, ['zip', '-q', '-r', dest, basename(source)], dirname(source))
  return true
}

const UNPACK: readonly (readonly [RegExp, (archive: string, dest: string) => readonly string[]])[] = [
  [/\.zip$/i, (archive, dest) => ['unzip', '-q', '-o', archive, '-d', dest]],
  [
    /\.(tar|tar\.\w+|tgz|tbz2?|txz)$/i,
    (archive, dest) => ['tar', '-x', '--no-same-owner', '-f', archive, '-C', dest],
  ],
  [
    /\.gz$/i,
    (archive, dest) => [
      '/bin/sh',
      '-c',
      'gzip -dc -- "$0" > "$1"',
      archive,
      join(dest, basename(archive, '.gz')),
    ],
  ],
  [
    /\.bz2$/i,
    (archive, dest) => [
      '/bin/sh',
      '-c',
      'bzip2 -dc -- "$0" > "$1"',
      archive,
      join(dest, basename(archive, '.bz2')),
    ],
  ],
  [
    /\.xz$/i,
    (archive, dest) => [
      '/bin/sh',
      '-c',
      'xz -dc -- "$0" > "$1"',
      archive,
      join(dest, basename(archive, '.xz')),
    ],
  ],
  [/\.(7z|rar)$/i, (archive, dest) => ['7z', 'x', '-y', `-o${dest}`, archive]],
]

const extract =
  (clean: boolean) =>
  async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
    const archive = await programPath(args, 0, context)
    const dest = args[1] === undefined ? dirname(archive) : pathArg(args, 1, context)
    await checkPath(dest, context, 'write')
    const unpack = UNPACK.find(([name]) => name.test(archive))?.[1]
    if (unpack === undefined) throw new Error(`${basename(archive)} is no archive of a kind that is known`)
    if (!(await isThere(archive, context))) throw new Error(`${archive} does not exist`)
    if (clean && args[1] !== undefined) await removeTree(dest, context)
    await makeFolder(dest, context)
    await must(context, unpack(archive, dest))
    return true
  }

const difference = async (args: readonly Json[], context: FunctionContext): Promise<string> => {
  const known = new Distinct()
  for await (const line of linesOf(pathArg(args, 0, context), context)) known.add(line.trim())
  const fresh: string[] = []
  for await (const line of linesOf(pathArg(args, 1, context), context)) {
    const text = line.trim()
    if (text === '' || known.has(text)) continue
    if (fresh.push(text) > MAX_ITEMS) throw new Error(`more than ${MAX_ITEMS} lines are new; use diff_unix`)
  }
  return fresh.join('\n')
}

const tar = async (args: readonly Json[], context: FunctionContext): Promise<string[]> => {
  const [source, dest] = [await programPath(args, 0, context), await programPath(args, 1, context, 'write')]
  const compress = /\.(tgz|gz)$/.test(dest)
    ? ['-z']
    : /\.(tbz2?|bz2)$/.test(dest)
      ? ['-j']
      : /\.(txz|xz)$/.test(dest)
        ? ['-J']
        : []
  return ['tar', '-c', ...compress, '-f', dest, '-C', dirname(source), basename(source)]
}

/** `sed` with the author's expression; the result goes to a file. */
const sed = async (args: readonly Json[], context: FunctionContext): Promise<string[]> => [
  '/bin/sh',
  '-c',
  'sed -e "$0" -- "$1" > "$2.tmp" && mv -- "$2.tmp" "$2"',
  textArg(args, 0),
  await programPath(args, 1, context),
  await programPath(args, args[2] === undefined ? 1 : 2, context, 'write'),
]

const diff = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const [a, b] = [await programPath(args, 0, context), await programPath(args, 1, context)]
  const { stdout, stderr, exitCode } = await context.exec(['diff', '--', a, b])
  if (exitCode > 1 || exitCode < 0) throw new Error(`diff: ${stderr.trim()}`)
  if (args[2] === undefined) return stdout
  await writeLines(pathArg(args, 2, context), stdout.split('\n').slice(0, -1), context)
  return true
}

const cleanSubdomains = async (args: readonly Json[], context: FunctionContext): Promise<Json> => {
  const path = pathArg(args, 0, context)
  const suffix = textArg(args, 1).toLowerCase()
  const names = new Distinct()
  for await (const line of linesOf(path, context)) {
    const name = line
      .trim()
      .toLowerCase()
      .replace(/^[a-z]+:\/\//, '')
      .replace(/[/:?#].*$/, '')
      .replace(/^(\*\.)+/, '')
      .replace(/\.+$/, '')
    const valid = /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}$/.test(name)
    if (valid && (suffix === '' || name === suffix || name.endsWith(`.${suffix}`))) names.add(name)
  }
  await writeLines(path, names.sorted(), context)
  return true
}

export const UNIX_FUNCTIONS: FunctionGroup = {
  title: 'Unix tools, archives and differences',
  functions: [
    fn(
      'sort_unix(source, dest?)',
      'bool',
      'Sorts bytewise and drops double lines, in place without dest; false when the file is not there.',
      sortUnique,
    ),
    fn('wget_unix(url, dest?)', 'bool', 'Downloads a file.', download),
    fn('wget(url, dest)', 'bool', 'Downloads a file.', download),
    fn('git_clone(repository, dest?)', 'bool', 'Clones the newest state of a repository.', cloneInto),
    fn(
      'git_clone_subfolder(repository, folder, dest)',
      'bool',
      'Copies one folder of a repository.',
      cloneSubfolder,
    ),
    fn('zip_unix(source, dest)', 'bool', 'Makes a zip archive.', zip),
    fn('unzip_unix(archive, dest?)', 'bool', 'Unpacks a zip archive.', extract(false)),
    fn('tar_unix(source, dest)', 'bool', 'Makes a tar archive, compressed by its name.', run(tar)),
    fn('untar_unix(archive, dest?)', 'bool', 'Unpacks a tar archive.', extract(false)),
    fn('zip_dir(folder, dest)', 'bool', 'Makes a zip archive of a folder.', zip),
    fn('unzip_dir(archive, dest)', 'bool', 'Unpacks a zip archive.', extract(false)),
    fn(
      'extract_to(archive, dest)',
      'bool',
      'Unpacks an archive of any kind; dest is removed first.',
      extract(true),
    ),
    fn('diff_unix(a, b, dest?)', 'text', 'The output of diff, or true when it is written to dest.', diff),
    fn('extract_diff(a, b)', 'text', 'The lines that are only in b.', difference),
    fn('sed_string_replace(expression, source, dest)', 'bool', 'Applies a sed expression.', run(sed)),
    fn('sed_regex_replace(expression, source, dest)', 'bool', 'Applies a sed expression.', run(sed)),
    fn(
      'clean_sub(path, target?)',
      'bool',
      'Cleans a file of host names in place: lower case, no wildcards, each once, only those under target.',
      cleanSubdomains,
    ),
    fn(
      'snapshot_export(workspace, dest?)',
      'text',
      'Packs the folder of the workspace; answers the path of the archive.',
      async (args, context) => {
        const { folders } = context
        const name = textArg(args, 0, context.workspace)
        if (!/^[\w.-]+$/.test(name)) throw new Error('not the name of a workspace')
        const source = name === context.workspace ? folders.output : join(dirname(folders.output), name)
        const dest = args[1] === undefined ? join(folders.temp, `${name}.zip`) : pathArg(args, 1, context)
        await zip([source, dest], context)
        return dest
      },
    ),
    fn(
      'snapshot_import(archive)',
      'bool',
      'Unpacks a packed workspace into the folder of the run.',
      async (args, context) => {
        await must(context, [
          'unzip',
          '-q',
          '-o',
          await programPath(args, 0, context),
          '-d',
          context.folders.output,
        ])
        return true
      },
    ),
  ],
}
