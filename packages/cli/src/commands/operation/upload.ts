import { basename } from 'node:path'
import type { Command } from 'commander'
import { clientCommand, connect, printAnswer, type ClientOptions } from '../../client/connect.ts'
import { readBlob } from '../../client/files.ts'
import type { Terminal } from '../../terminal.ts'

interface UploadOptions extends ClientOptions {
  readonly workflow?: boolean
}

export const uploadCommand = (terminal: Terminal): Command =>
  clientCommand('upload', 'Upload a file of targets, or a workflow.')
    .argument('<file>', 'file to upload')
    .option('--workflow', 'the file is a workflow')
    .action(async (file: string, options: UploadOptions) => {
      const content = await readBlob(file)
      const path = options.workflow ? '/workflow-upload' : '/upload-file'
      const answer = await connect(terminal, options).upload<Record<string, unknown>>(
        path,
        basename(file),
        content,
      )
      printAnswer(terminal, options, answer)
    })
