import { constants } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fn, numberArg, textArg, type FunctionGroup } from './define.ts'
import { appendFile, asking, isThere, makeFolder, moveFile, namesIn, pathArg, writeLines } from './files.ts'
import { refuseAbove, removeFile, removeTree } from './remove.ts'
import { matchingPaths } from './glob.ts'
import { countLines, isMissing, linesOf } from './lines.ts'
import { patternOf } from './pattern.ts'
import type { RunPlace } from './allowed.ts'
import { openFile } from './run-folder.ts'

/** Longest text that a function takes out of a file into an expression. */
export const MAX_TEXT_BYTES = 16 << 20
/** Most lines or names that a function answers. */
export const MAX_ITEMS = 100_000

/** Nothing for a file that is not there; an error for one that is too large to hold. */
export const readText = async (path: string, place: RunPlace): Promise<string> => {
  try {
    await using file = await openFile(path, place, constants.O_RDONLY)
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
  place: RunPlace,
  wanted: (line: string) => boolean,
): AsyncGenerator<string> {
  for await (const line of linesOf(path, place)) if (wanted(line)) yield line
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

const chunked = async (
  source: string,
  place: RunPlace,
  size: number,
  write: (path: string, lines: readonly string[]) => Promise<void>,
): Promise<string[]> => {
  const paths: string[] = []
  let lines: string[] = []
  const flush = async () => {
    if (lines.length === 0) return
    const path = `${source}.chunk-${paths.length + 1}`
    await write(path, lines)
    paths.push(path)
    lines = []
  }
  for await (const line of linesOf(source, place)) {
    if (line.trim() !== '') lines.push(line)
    if (lines.length >= size) await flush()
  }
  await flush()
  return paths
}

export const FILE_FUNCTIONS: FunctionGroup = {
  title: 'Files',
  functions: [
    fn(
      'file_exists(path)',
      'bool',
      'Is there a file or folder?',
      async (args, at) => await asking(at, () => isThere(pathArg(args, 0, at), at), false),
    ),
    fn(
      'file_length(path)',
      'number',
      'Non-empty lines; 0 for a file that is not there.',
      async (args, at) => await countLines(pathArg(args, 0, at), at),
    ),
    fn(
      'dir_length(path)',
      'number',
      'Entries of a folder; 0 when it is not there.',
      async (args, at) => (await namesIn(pathArg(args, 0, at), at)).length,
    ),
    fn(
      'file_contains(path, pattern)',
      'bool',
      'Does any line match the regular expression?',
      async (args, at) => {
        const pattern = patternOf(textArg(args, 1))
        for await (const _ of matching(pathArg(args, 0, at), at, (line) => pattern.test(line))) return true
        return false
      },
    ),
    fn(
      'regex_extract(path, pattern)',
      'list',
      'The lines that match the regular expression.',
      async (args, at) => {
        const pattern = patternOf(textArg(args, 1))
        return await collect(matching(pathArg(args, 0, at), at, (line) => pattern.test(line)))
      },
    ),
    fn(
      'read_file(path)',
      'text',
      'The whole text; nothing for a file that is not there.',
      async (args, at) => await readText(pathArg(args, 0, at), at),
    ),
    fn(
      'read_lines(path)',
      'list',
      'All lines.',
      async (args, at) => await collect(linesOf(pathArg(args, 0, at), at)),
    ),
    fn('remove_file(path)', 'bool', 'Removes a file; true also when it was not there.', async (args, at) => {
      await removeFile(pathArg(args, 0, at), at)
      return true
    }),
    fn('remove_folder(path)', 'bool', 'Removes a folder with all in it.', async (args, at) => {
      await removeTree(pathArg(args, 0, at), at)
      return true
    }),
    fn('rm_rf(path)', 'bool', 'Removes a file or a folder with all in it.', async (args, at) => {
      await removeTree(pathArg(args, 0, at), at)
      return true
    }),
    fn(
      'remove_all_except(folder, keep)',
      'bool',
      'Removes every entry of a folder but the one that is named.',
      async (args, at) => {
        const folder = pathArg(args, 0, at)
        const keep = basename(textArg(args, 1))
        await refuseAbove(folder, at)
        for (const name of await namesIn(folder, at)) {
          if (name !== keep) await removeTree(join(folder, name), at)
        }
        return true
      },
    ),
    fn(
      'create_folder(path)',
      'bool',
      'Makes a folder with all above it.',
      async (args, at) => {
        await makeFolder(pathArg(args, 0, at), at)
        return true
      },
      ['create_dir', 'createDir'],
    ),
    fn(
      'append_file(dest, source)',
      'bool',
      'Appends the content of source; false when it is not there.',
      async (args, at) => await appendFile(pathArg(args, 0, at), pathArg(args, 1, at), at),
    ),
    fn(
      'move_file(source, dest)',
      'bool',
      'Moves a file; false when it is not there.',
      async (args, at) => await moveFile(pathArg(args, 0, at), pathArg(args, 1, at), at),
    ),
    fn('glob(pattern)', 'list', 'Paths that match, sorted.', async (args, at) =>
      (await collect(matchingPaths(pathArg(args, 0, at), at))).sort(),
    ),
    fn('grep_string(path, text)', 'text', 'The lines that contain the text.', async (args, at) =>
      (await collect(matching(pathArg(args, 0, at), at, (line) => line.includes(textArg(args, 1))))).join(
        '\n',
      ),
    ),
    fn(
      'grep_regex(path, pattern)',
      'text',
      'The lines that match the regular expression.',
      async (args, at) => {
        const pattern = patternOf(textArg(args, 1))
        return (await collect(matching(pathArg(args, 0, at), at, (line) => pattern.test(line)))).join('\n')
      },
    ),
    fn(
      'grep_string_to_file(dest, source, text)',
      'bool',
      'Writes the lines that contain the text.',
      async (args, at) => {
        const lines = matching(pathArg(args, 1, at), at, (line) => line.includes(textArg(args, 2)))
        await writeLines(pathArg(args, 0, at), lines, at)
        return true
      },
    ),
    fn(
      'grep_regex_to_file(dest, source, pattern)',
      'bool',
      'Writes the lines that match the regular expression.',
      async (args, at) => {
        const pattern = patternOf(textArg(args, 2))
        await writeLines(
          pathArg(args, 0, at),
          matching(pathArg(args, 1, at), at, (line) => pattern.test(line)),
          at,
        )
        return true
      },
    ),
    fn('remove_blank_lines(path)', 'bool', 'Drops empty lines in place.', async (args, at) => {
      const path = pathArg(args, 0, at)
      if (await isThere(path, at))
        await writeLines(
          path,
          matching(path, at, (line) => line.trim() !== ''),
          at,
        )
      return true
    }),
    fn(
      'chunk_file(path, lines, manifest)',
      'number',
      'Cuts a file into files of so many lines beside it; their paths go into the manifest.',
      async (args, at) => {
        const size = Math.max(1, Math.trunc(numberArg(args, 1, 1000)))
        const paths = await chunked(pathArg(args, 0, at), at, size, async (path, lines) => {
          await writeLines(path, lines, at)
        })
        await writeLines(pathArg(args, 2, at), paths, at)
        return paths.length
      },
    ),
    fn(
      'cut_to_file(path, delimiter, field, dest)',
      'bool',
      'Writes one field of every line, counted from 1.',
      async (args, at) => {
        const [delimiter, field] = [textArg(args, 1), numberArg(args, 2, 1)]
        const cut = async function* () {
          for await (const line of linesOf(pathArg(args, 0, at), at)) {
            const value = line.split(delimiter)[field - 1]
            if (value !== undefined && value !== '') yield value
          }
        }
        await writeLines(pathArg(args, 3, at), cut(), at)
        return true
      },
    ),
  ],
}
