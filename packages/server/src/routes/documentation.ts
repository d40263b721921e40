import { text } from '../http/answer.ts'
import { DOCS_POLICY, docsPage } from '../http/docs-page.ts'
import { openApi } from '../http/openapi.ts'
import { route, type Route } from '../http/route.ts'

/** The document and the page about `routes`, themselves included. */
export function documentation(routes: readonly Route[]): Route[] {
  const all = (): readonly Route[] => [...routes, ...own]
  let document: string | undefined
  let page: string | undefined
  const own = [
    route(
      {
        method: 'get',
        path: '/openapi.json',
        aliases: ['/swagger/doc.json'],
        tag: 'Farm',
        summary: 'This API as an OpenAPI 3.1 document',
        role: 'public',
        bare: true,
        responses: { 200: { media: ['application/json'], description: 'The document' } },
      },
      async () => text(200, 'application/json; charset=utf-8', (document ??= JSON.stringify(openApi(all())))),
    ),
    route(
      {
        method: 'get',
        path: '/docs',
        aliases: ['/swagger', '/swagger/', '/swagger/index.html'],
        tag: 'Farm',
        summary: 'This API as a page for people',
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
