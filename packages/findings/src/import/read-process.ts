import { once } from 'node:events'
import { AppError, type ErrorCode } from '@scanfarm/contracts'
import type { ImportFormat } from '../formats.ts'
import { batchesOf, type Batch } from './batches.ts'

/** Sent to the process: the next bytes of the file, or nothing at its end and after a batch. */
export interface ToReader {
  readonly bytes?: Uint8Array
}

/** Sent by the process. `more` and `batch` expect a reply. */
export type FromReader =
  | { readonly kind: 'more' | 'done' }
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }

/** Process that reads one file of findings. Its arguments are the format and the folder that was scanned. */
const [, , format, root = ''] = process.argv

const say = (message: FromReader): void => void process.send?.(message)

const ask = async (message: FromReader): Promise<ToReader> => {
  const answer = once(process, 'message')
  say(message)
  const [given] = (await answer) as [ToReader]
  return given
}

async function* body(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytes } = await ask({ kind: 'more' })
    if (bytes === undefined) return
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
