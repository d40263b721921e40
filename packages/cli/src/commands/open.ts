import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { openLocalRedirect } from '../client/local-redirect.ts'
import { printJson } from '../client/table.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface OpenOptions extends ClientOptions {
  readonly print?: boolean
}

const PROGRAM = process.platform === 'darwin' ? 'open' : 'xdg-open'

/** Time for a browser to start. */
const BROWSER_MS = 30_000

/** Whether a browser took the link. A machine without a screen has no browser to open. */
const openInBrowser = async (link: string, env: Terminal['env']): Promise<boolean> => {
  if (process.platform !== 'darwin' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false
  await using redirect = await openLocalRedirect(link)
  const child = spawn(PROGRAM, [redirect.url], { stdio: 'ignore', env })
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) return false
  } catch {
    return false
  }
  const late = new AbortController()
  const isUsed = redirect.used.then(() => true)
  const isLate = setTimeout(BROWSER_MS, false, { signal: late.signal }).catch(() => false)
  try {
    return await Promise.race([isUsed, isLate])
  } finally {
    late.abort()
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
