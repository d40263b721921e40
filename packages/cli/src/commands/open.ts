import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { printJson } from '../client/table.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface OpenOptions extends ClientOptions {
  readonly print?: boolean
}

const PROGRAM = process.platform === 'darwin' ? 'open' : 'xdg-open'

/** Whether the desktop took the address. A machine without a screen has no browser to open. */
const openInBrowser = async (url: string, env: Terminal['env']): Promise<boolean> => {
  if (process.platform !== 'darwin' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false
  const child = spawn(PROGRAM, [url], { stdio: 'ignore', env })
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return code === 0
  } catch {
    return false
  }
}

export const openCommand = (terminal: Terminal): Command =>
  clientCommand('open', 'Open the web console in a browser, logged in by a link that works once.')
    .option('--print', 'print the link instead of opening it')
    .action(async (options: OpenOptions) => {
      const link = await connect(terminal, options).call(({ POST }) => POST('/session/links'))
      if (wantsJson(options)) return printJson(terminal, link)
      if (options.print !== true && (await openInBrowser(link.url, terminal.env))) return
      printLine(terminal, link.url)
    })
