import type { FindingContent } from '@scanfarm/contracts'
import type { Batch } from './batches.ts'
import { below, isAbsolute } from './paths.ts'

/** The folder that the files of known findings are relative to, by findings at absolute paths; undefined: none is known. */
export type KnownFolder = (findings: readonly FindingContent[]) => Promise<string | undefined>

/** Enough findings to tell the folder by those that are known. */
const MAX_SAMPLE = 200

/** Findings whose place begins with the path of a file. */
const inFile = ({ asset_type: type }: FindingContent): boolean => type === 'file' || type === 'package'

/**
 * Keeps the places of known findings where a report only has absolute paths: its files have another folder in common
 * whenever a finding elsewhere is added, or the last one of a folder is mended. Files outside of the known folder keep
 * their absolute paths.
 */
export async function* withSettledFolder(
  batches: AsyncIterable<Batch>,
  known: KnownFolder,
): AsyncGenerator<Batch> {
  let root: string | undefined
  for await (const batch of batches) {
    const { folder, vulnerabilities, failed } = batch
    if (folder === undefined) yield batch
    else {
      const whole = (path: string): string => (isAbsolute(path) ? path : `${folder}/${path}`)
      const moved = (change: (path: string) => string): FindingContent[] =>
        vulnerabilities.map((one) => (inFile(one) ? { ...one, asset_value: change(one.asset_value) } : one))
      const sample = root === undefined ? moved(whole).filter(inFile).slice(0, MAX_SAMPLE) : []
      if (sample.length > 0) root = (await known(sample)) ?? folder
      const settled = root ?? folder
      const relative = (path: string): string => below(whole(path), settled) ?? whole(path)
      yield settled === folder
        ? batch
        : {
            ...batch,
            vulnerabilities: moved(relative),
            failed: { ...failed, files: failed.files.map(relative) },
          }
    }
  }
}
