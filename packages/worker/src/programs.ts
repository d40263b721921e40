import { readdir } from 'node:fs/promises'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/
/** A worker shows what it can do in lists: that has to end somewhere. */
const MAX_PROGRAMS = 4096

/** Names in the folders of a search path, sorted: any of them may be what a workflow declares to need. */
export async function programsOn(path: string): Promise<string[]> {
  const folders = [...new Set(path.split(':'))].filter((folder) => folder.startsWith('/'))
  const names = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))
  return [...new Set(names.flat())]
    .filter((name) => NAME.test(name))
    .sort()
    .slice(0, MAX_PROGRAMS)
}
