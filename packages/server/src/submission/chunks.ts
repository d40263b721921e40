import { AppError } from '@scanfarm/contracts'
import type { TargetDraft } from '@scanfarm/store'
import type { Lines } from './lines.ts'
import { SeenHashes } from './seen-hashes.ts'
import { targetOf } from './target-list.ts'

const CHUNK = 10_000

/**
 * Reads the lines of a list that was checked before once more, for the store. Refuses a list whose count of targets is
 * another one now.
 */
export async function* chunksOf(
  lines: AsyncIterable<Lines>,
  count: number,
  draftOf: (target: string) => TargetDraft,
): AsyncGenerator<readonly TargetDraft[]> {
  const seen = new SeenHashes()
  let told = 0
  let chunk: TargetDraft[] = []
  for await (const { texts } of lines) {
    for (const text of texts) {
      const target = targetOf(text)
      if (target === undefined || !seen.add(target)) continue
      told += 1
      if (chunk.push(draftOf(target)) < CHUNK) continue
      yield chunk
      chunk = []
    }
  }
  if (chunk.length > 0) yield chunk
  if (told !== count)
    throw new AppError('conflict', 'target_file changed while it was read: send the request again')
}
