import { createHash } from 'node:crypto'
import { text } from '../../http/answer.ts'
import { openApi } from '../../http/openapi.ts'
import { route, type Route, type RouteSpec } from '../../http/route.ts'

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
code{font:13px/1.5 ui-monospace,monospace}h2{margin-top:2rem;border-bottom:1px solid #d0d7de}
dt{margin-top:.8rem}dd{margin:.1rem 0 0 1.5rem;color:#57606a}b{display:inline-block;min-width:4rem}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}dd{color:#9198a1}h2{border-color:#3d444d}a{color:#4493f8}}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Allows only this style sheet: no scripts and no external content. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'`

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** A readable page: a summary of every endpoint and a link to the OpenAPI document. */
export const docsPage = (routes: readonly Route[]): string => {
  const byTag = Map.groupBy(
    routes.map(({ spec }) => spec),
    ({ tag }) => tag,
  )
  const sections = [...byTag].map(
    ([tag, specs]) => `<h2>${escape(tag)}</h2><dl>${specs.map(entry).join('')}</dl>`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Scanfarm API</title><style>${STYLE}</style><h1>Scanfarm API</h1>
<p>All paths are below <code>/api</code>. Send <code>Authorization: Bearer &lt;token&gt;</code>. Every field is described in
<a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>${sections.join('')}</html>`
}

const entry = ({ method, path, summary, description, role }: RouteSpec): string =>
  `<dt><code><b>${method.toUpperCase()}</b>${escape(path)}</code></dt><dd>${escape(summary)}. ${escape(
    [description, role === 'public' ? 'Needs no token.' : `Role: ${role}.`].filter(Boolean).join(' '),
  )}</dd>`

/** The routes of the OpenAPI document and of the page; both describe themselves too. */
export function documentation(routes: readonly Route[]): Route[] {
  const all = (): readonly Route[] => [...routes, ...own]
  let document: string | undefined
  let page: string | undefined
  const own = [
    route(
      {
        endpoint: 'GET /openapi.json',
        aliases: ['/swagger/doc.json'],
        summary: 'Read this API as an OpenAPI 3.1 document',
        role: 'public',
        bare: true,
        responses: { 200: { media: ['application/json'], description: 'The document' } },
      },
      async () => text(200, 'application/json; charset=utf-8', (document ??= JSON.stringify(openApi(all())))),
    ),
    route(
      {
        endpoint: 'GET /docs',
        aliases: ['/swagger', '/swagger/', '/swagger/index.html'],
        summary: 'Read this API as an HTML page',
        role: 'public',
        bare: true,
        responses: { 200: { media: ['text/html'], description: 'The page' } },
      },
      async () =>
        text(200, 'text/html; charset=utf-8', (page ??= docsPage(all())), {
          'Content-Security-Policy': DOCS_POLICY,
        }),
    ),
  ]
  return own
}
