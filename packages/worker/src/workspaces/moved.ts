import type { RunFolders } from './work-folders.ts'

/** Texts and files of a run name them; where the run continues they may be others. */
export type Folders = Pick<RunFolders, 'attempt' | 'workspace'>

export const inJson = (path: string): string => JSON.stringify(path).slice(1, -1)

/** A copy of a JSON value in which the folders `to` replace the folders `from`. */
export const moved = <T>(value: T, from: Folders, to: Folders): T =>
  JSON.parse(movedText(JSON.stringify(value), inJson, from, to)) as T

export const movedText = (
  found: string,
  form: (path: string) => string,
  from: Folders,
  to: Folders,
): string =>
  found
    .replaceAll(form(from.attempt), () => form(to.attempt))
    .replaceAll(form(from.workspace), () => form(to.workspace))

/** The bytes, with folders `to` in place of `from`; `onMoved` gets each place. Binary files stay as they are. */
export const movedBytes = async function* (
  source: AsyncIterable<Buffer>,
  from: Folders,
  to: Folders,
  onMoved?: () => void,
): AsyncGenerator<Buffer> {
  const latin = (path: string): string => Buffer.from(path).toString('latin1')
  const names = new Map([
    [latin(from.attempt), latin(to.attempt)],
    [latin(from.workspace), latin(to.workspace)],
  ])
  const longest = Math.max(...[...names.keys()].map(({ length }) => length))
  const pattern = new RegExp([...names.keys()].map(RegExp.escape).join('|'), 'g')
  let kept = ''
  const take = (all: string, until: number): Buffer => {
    let [at, done] = [0, '']
    for (const { index, 0: name } of all.matchAll(pattern)) {
      if (index >= until) break
      onMoved?.()
      done += all.slice(at, index) + (names.get(name) ?? name)
      at = index + name.length
    }
    const end = Math.max(at, until)
    kept = all.slice(end)
    return Buffer.from(done + all.slice(at, end), 'latin1')
  }
  let isBinary: boolean | undefined
  for await (const chunk of source) {
    isBinary ??= chunk.includes(0)
    if (isBinary) {
      yield chunk
      continue
    }
    const all = kept + chunk.toString('latin1')
    // The beginning of a name may be at the end.
    yield take(all, Math.max(0, all.length - longest + 1))
  }
  yield take(kept, kept.length)
}
