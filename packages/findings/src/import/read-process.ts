import { once } from 'node:events'
import { AppError, type ErrorCode } from '@scanfarm/contracts'
import type { ImportFormat } from '../formats.ts'
import { batchesOf, type Batch } from './batches.ts'

/** Sent by the process. The replies: to `more` the next bytes of the file, false at its end; to `batch` false. */
export type FromReader =
  | { readonly kind: 'more' | 'done' }
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }

/** Process that reads one file of findings. Its arguments are the format and the folder that was scanned. */
const [, , format, root = ''] = process.argv

const say = (message: FromReader): void => void process.send?.(message)

const ask = async (message: FromReader): Promise<Uint8Array | false> => {
  const answer = once(process, 'message')
  say(message)
  const [given] = (await answer) as [Uint8Array | false]
  return given
}

async function* body(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const bytes = await ask({ kind: 'more' })
    if (bytes === false) return
    yield bytes
  }
}

process.once('disconnect', () => process.exit())
try {
  for await (const batch of batchesOf(format as ImportFormat, body(), root))
    await ask({ kind: 'batch', batch })
  say({ kind: 'done' })
} catch (error) {
  if (!(error instanceof AppError)) throw error
  say({ kind: 'refused', code: error.code, message: error.message })
}
