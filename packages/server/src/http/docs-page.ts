import { createHash } from 'node:crypto'
import type { Route, RouteSpec } from './route.ts'

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
code{font:13px/1.5 ui-monospace,monospace}h2{margin-top:2rem;border-bottom:1px solid #d0d7de}
dt{margin-top:.8rem}dd{margin:.1rem 0 0 1.5rem;color:#57606a}b{display:inline-block;min-width:4rem}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}dd{color:#9198a1}h2{border-color:#3d444d}a{color:#4493f8}}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Only this one style sheet; no script, nothing from elsewhere. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'`

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** A page for people: every endpoint with a sentence, and the way to the full document. */
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
