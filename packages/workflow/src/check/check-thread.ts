import { parentPort } from 'node:worker_threads'
import { checkFile, type SourceFile } from '../library/library.ts'

/** The inside of the thread that reads and checks workflow files, one at a time. */
const main = parentPort
if (main === null) throw new Error('this file is the inside of a thread')

main.on('message', (file: SourceFile) => main.postMessage(checkFile(file)))
main.postMessage('ready')
