import { constants } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { local, NoResult, type FunctionContext, type FunctionGroup, type Run, type Call } from '../define.ts'
import {
  appendFile,
  asking,
  filePath,
  isThere,
  mustBeFile,
  makeFolder,
  moveFile,
  namesIn,
  writeLines,
} from './files.ts'
import { refuseAbove, removeFile, removeFolder, removeTree } from '../paths/remove.ts'
import { matchingPaths } from './glob.ts'
import { countLines, isMissing, linesOf } from './lines.ts'
import { patternOf, type Pattern } from '../text/pattern.ts'
import type { FileScope } from '../paths/allowed.ts'
import { statOf, openFile } from '../paths/run-folder.ts'

/** Maximum size of a file's text in an expression. */
export const MAX_TEXT_BYTES = 16 << 20
/** Maximum number of lines or names that a function returns. */
export const MAX_ITEMS = 100_000

/** Empty for a missing file; throws for a file that is too large. */
export const readText = async (path: string, scope: FileScope): Promise<string> => {
  try {
    await using file = await openFile(path, scope, constants.O_RDONLY)
    const { size } = await file.stat()
    if (size > MAX_TEXT_BYTES)
      throw new Error(`${path} is larger than ${MAX_TEXT_BYTES} bytes; work on it with a command`)
    return await file.readFile('utf8')
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}

const matching = async function* (
  path: string,
  scope: FileScope,
  wanted: (line: string) => boolean,
): AsyncGenerator<string> {
  for await (const line of linesOf(path, scope)) if (wanted(line)) yield line
}

const collect = async (lines: AsyncIterable<string>): Promise<string[]> => {
  const found: string[] = []
  for await (const line of lines) {
    if (found.length >= MAX_ITEMS)
      throw new Error(`more than ${MAX_ITEMS} lines; work on the file with a command`)
    found.push(line)
  }
  return found
}

/** The text or pattern to search for; it must not be empty. */
const soughtArg = (at: Call, index: number): string => {
  const text = at.text(index)
  if (text === '') throw new NoResult(`argument ${index + 1} is empty: it must be the text to search for`)
  return text
}

/** Matches patterns that give the same result line by line and for the whole text. */
const isOfOneLine = (source: string): boolean => !/[\^$\n]|\\[^dw.\-/]|\(\?/.test(source)

/** Whether the pattern occurs in the text. A text that is too large for one match is searched line by line. */
const containsPattern = async (path: string, source: string, at: FunctionContext): Promise<boolean> => {
  const pattern = await patternOrText(source)
  const file = await statOf(path, at)
  if (file === undefined || file.isDirectory()) throw new NoResult(`${path} is not a file`)
  if (!isOfOneLine(source)) {
    if (file.size <= Math.min(pattern.longest, MAX_TEXT_BYTES)) return pattern.test(await readText(path, at))
    at.recorder.log('warn', `file_contains: ${path} is large, so "${source}" is looked for in each line`)
  }
  for await (const _ of matching(path, at, (line) => pattern.test(line))) return true
  return false
}

/** An invalid regular expression is searched for as text. */
const patternOrText = async (source: string): Promise<Pick<Pattern, 'longest' | 'test'>> => {
  try {
    return patternOf(source)
  } catch (error) {
    if (!(error instanceof NoResult)) throw error
    return { longest: Infinity, test: (text) => text.includes(source) }
  }
}

const grep = async (
  at: Call,
  pathAt: number,
  wanted: (line: string) => boolean,
): Promise<AsyncGenerator<string>> => {
  return matching(await filePath(at, pathAt), at, wanted)
}

type Wanted = (sought: string) => (line: string) => boolean

const containing: Wanted = (text) => (line) => line.includes(text)
const matchingPattern: Wanted = (source) => {
  const pattern = patternOf(source)
  return (line) => pattern.test(line)
}

const grepText =
  (wanted: Wanted): Run =>
  async (at) =>
    (await collect(await grep(at, 0, wanted(soughtArg(at, 1))))).join('\n')

const grepToFile =
  (wanted: Wanted): Run =>
  async (at) => {
    const lines = await grep(at, 1, wanted(soughtArg(at, 2)))
    await writeLines(at.path(0), lines, at)
  }

/** Splits a file into files of `size` lines beside it: `hosts_part_0.txt`, `hosts_part_1.txt`. */
const chunked = async function* (
  source: string,
  scope: FunctionContext,
  size: number,
): AsyncGenerator<string> {
  const extension = extname(source)
  const start = join(dirname(source), basename(source, extension))
  let [count, lines]: [number, string[]] = [0, []]
  const flush = async (): Promise<string> => {
    const path = `${start}_part_${count++}${extension}`
    await writeLines(path, lines, scope)
    lines = []
    return path
  }
  for await (const line of linesOf(source, scope)) {
    if (line.trim() !== '') lines.push(line)
    if (lines.length >= size) yield await flush()
  }
  if (lines.length > 0) yield await flush()
}

const chunkFile: Run = async (at) => {
  const [source, manifest] = [at.path(0), at.path(2)]
  const size = Math.trunc(at.number(1, 0))
  if (size <= 0) throw new NoResult('a chunk must have at least one line')
  await mustBeFile(source, at)
  await writeLines(manifest, chunked(source, at, size), at)
}

/** Removes the content of a folder except the file at `keep` in it. */
const prune = async (
  folder: string,
  [name, ...rest]: readonly string[],
  at: FunctionContext,
): Promise<void> => {
  for (const entry of await namesIn(folder, at)) {
    if (entry !== name) await removeTree(join(folder, entry), at)
    else if (rest.length > 0) await prune(join(folder, entry), rest, at)
  }
}

const removeAllExcept: Run = async (at) => {
  const folder = at.path(0)
  const keep = resolve(folder, soughtArg(at, 1))
  const parts = relative(folder, keep).split(sep)
  if (parts[0] === '..') throw new NoResult(`${keep} is not in ${folder}`)
  refuseAbove(folder, at)
  await mustBeFile(keep, at)
  await prune(folder, parts, at)
}

export const FILE_FUNCTIONS: FunctionGroup = {
  title: 'Files',
  functions: [
    local('file_exists(path): bool', 'Whether a file or folder exists.', (at) =>
      asking(at, () => isThere(at.path(0), at), false),
    ),
    local('file_length(path): number', 'Non-empty lines; 0 for a missing file.', (at) =>
      countLines(at.path(0), at),
    ),
    local(
      'dir_length(path): number',
      'Entries of a folder; 0 if it does not exist.',
      async (at) => (await namesIn(at.path(0), at)).length,
    ),
    local(
      'file_contains(path, pattern): bool',
      'Whether the regular expression occurs in the text. `^` and `$` match the ends of the text, with `(?m)` those of lines.',
      (at) => containsPattern(at.path(0), soughtArg(at, 1), at),
    ),
    local(
      'regex_extract(path, pattern): list',
      'The lines that match the regular expression.',
      async (at) => {
        const pattern = patternOf(soughtArg(at, 1))
        return await collect(matching(at.path(0), at, (line) => pattern.test(line)))
      },
    ),
    local('read_file(path): text', 'The text of the file; "" for a missing file.', (at) =>
      readText(at.path(0), at),
    ),
    local('read_lines(path): list', 'All lines.', (at) => collect(linesOf(at.path(0), at))),
    local('remove_file(path): bool', 'Removes a file; false if it does not exist.', async (at) =>
      removeFile(at.path(0), at),
    ),
    local(
      'remove_folder(path): bool',
      'Removes a folder with its content; false if it does not exist.',
      (at) => removeFolder(at.path(0), at),
    ),
    local(
      'rm_rf(path): bool',
      'Removes a file or a folder with its content; true also if it does not exist.',
      (at) => removeTree(at.path(0), at),
    ),
    local(
      'remove_all_except(folder, keep): bool',
      'Removes the content of a folder except one file; removes nothing and returns false if that file does not exist.',
      removeAllExcept,
    ),
    local(
      'create_folder(path): bool',
      'Creates a folder and its parents.',
      (at) => makeFolder(at.path(0), at),
      ['create_dir', 'createDir'],
    ),
    local(
      'append_file(dest, source): bool',
      'Appends the content of source; false if it does not exist.',
      (at) => appendFile(at.path(0), at.path(1), at),
    ),
    local('move_file(source, dest): bool', 'Moves a file; false if it does not exist.', (at) =>
      moveFile(at.path(0), at.path(1), at),
    ),
    local('glob(pattern): list', 'Paths that match, sorted.', async (at) =>
      (await collect(matchingPaths(at.path(0), at))).sort(),
    ),
    local('grep_string(path, text): text', 'The lines that contain the text.', grepText(containing)),
    local(
      'grep_regex(path, pattern): text',
      'The lines that match the regular expression.',
      grepText(matchingPattern),
    ),
    local(
      'grep_string_to_file(dest, source, text): bool',
      'Writes the lines that contain the text; false if the source does not exist.',
      grepToFile(containing),
    ),
    local(
      'grep_regex_to_file(dest, source, pattern): bool',
      'Writes the lines that match the regular expression; false if the source does not exist.',
      grepToFile(matchingPattern),
    ),
    local(
      'remove_blank_lines(path): bool',
      'Drops empty lines in place; false if the file does not exist.',
      async (at) => {
        const lines = await grep(at, 0, (line) => line.trim() !== '')
        await writeLines(at.path(0), lines, at)
      },
    ),
    local(
      'chunk_file(path, lines, manifest): bool',
      'Splits a file into files of `size` non-empty lines beside it (`name_part_0.txt`) and writes their paths to the manifest.',
      chunkFile,
    ),
    local(
      'cut_to_file(path, delimiter, field, dest): bool',
      'Writes one field of every line, counted from 1; false if the file does not exist.',
      async (at) => {
        const [delimiter, field] = [soughtArg(at, 1), Math.trunc(at.number(2, 0))]
        const lines = await grep(at, 0, (line) => line.trim() !== '')
        const cut = async function* () {
          for await (const line of lines) {
            const value = line.split(delimiter)[field - 1]
            if (value !== undefined && value !== '') yield value
          }
        }
        await writeLines(at.path(3), cut(), at)
      },
    ),
  ],
}
