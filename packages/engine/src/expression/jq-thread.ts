import { parentPort } from 'node:worker_threads'
import { MESSAGE_CHARS } from '@scanfarm/language'
import { raw } from 'jq-wasm'

/** Thread that runs jq filters, one at a time. */
const main = parentPort
if (main === null) throw new Error('this file must run in a worker thread')

main.on('message', ({ text, filter }: { text: string; filter: string }) => {
  raw(text, filter, ['-c']).then(
    (output) => main.postMessage({ output }),
    (error: Error) => main.postMessage({ error: error.message.slice(0, MESSAGE_CHARS) }),
  )
})

await raw('null', '.', ['-c'])
main.postMessage({})
