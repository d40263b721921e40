import type { RequestHandler } from 'express'
import { text, type Answer } from '../http/answer.ts'
import { requestIdOf } from '../http/observe-requests.ts'
import { sendAnswer } from '../http/send.ts'
import { CONSOLE_HEADERS } from './console-files.ts'
import type { ConsoleState, WebConsole } from './web-console.ts'

/** Never pages of the console. `/assets` and `/assets/12` are pages; the files of the console are there, too. */
const OTHER = /^\/(?:(?:api|osm|ws)(?:\/|$)|assets\/(?!\d+$))/

/** Whether a browser opens a page: every such path shows the console, which reads the path itself. */
export const opensPage = (method: string, path: string, accept: string | undefined): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (path === '/' || (accept?.includes('text/html') === true && !OTHER.test(path)))

/** Serves the console. Requests that are not for it continue. */
export const serveConsole =
  (webConsole: WebConsole): RequestHandler =>
  async (request, response, next) => {
    const { method, path, headers } = request
    if ((method !== 'GET' && method !== 'HEAD') || /^\/(?:api|osm|ws)(?:\/|$)/.test(path)) return next()
    const isPage = opensPage(method, path, headers.accept)
    // The page that waits is refreshed without what follows the #, in which a login link has its code.
    const state = await (path === '/login' ? webConsole.built() : webConsole.state())
    const answer = answerOf(state, path, isPage, {
      'if-none-match': headers['if-none-match'] ?? '',
      'accept-encoding': String(headers['accept-encoding'] ?? ''),
    })
    if (answer === undefined) return next()
    sendAnswer(response, requestIdOf(request), answer)
  }

const answerOf = (
  state: ConsoleState,
  path: string,
  isPage: boolean,
  headers: Readonly<Record<string, string>>,
): Answer | undefined => {
  if (state === 'absent') return undefined
  if (typeof state === 'object')
    return state.answer(path, headers) ?? (isPage ? state.answer('/index.html', headers) : undefined)
  return isPage ? WAITING[state] : undefined
}

const REFRESH_SECONDS = 2

const page = (title: string, line: string): Answer =>
  text(
    503,
    'text/html; charset=utf-8',
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Scanfarm</title><h1>${title}</h1><p>${line}</p></html>`,
    { ...CONSOLE_HEADERS, Refresh: REFRESH_SECONDS, 'Retry-After': REFRESH_SECONDS },
  )

const WAITING = {
  building: page(
    'The console is being built',
    'This takes a few seconds after a change of its sources. This page opens the console then.',
  ),
  failed: page(
    'The console cannot be built',
    'The log of the server contains the reason. To see it, run: <code>scripts/run scripts/console/main.ts</code>',
  ),
}
