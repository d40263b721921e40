import { parentPort } from 'node:worker_threads'
import type { SourceFile } from '@scanfarm/language'
import { checkSource } from '../library/open-library.ts'

/** Thread that reads and checks workflow files, one at a time. */
const main = parentPort
if (main === null) throw new Error('this file must run in a worker thread')

main.on('message', (file: SourceFile) => main.postMessage(checkSource(file)))
main.postMessage('ready')
