import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import type { QueryClient } from '@tanstack/react-query'
import { ApiError } from './api/client.ts'
import { sessionQuery } from './api/session.ts'
import { ROUTES, type ScreenRoute } from './routes.ts'
import { LoginScreen } from './screens/login/screen.tsx'
import { NotLoaded, RouteError } from './shell/route-error.tsx'
import { NotFound, Shell } from './shell/shell.tsx'

interface Context {
  readonly queries: QueryClient
}

/** The search part of the URL as plain text: `?status=failed&job=12`. */
export type Search = Readonly<Record<string, string>>

const root = createRootRouteWithContext<Context>()({ notFoundComponent: NotFound })

const login = createRoute({ getParentRoute: () => root, path: '/login', component: LoginScreen })

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queries.query({ ...sessionQuery, staleTime: 'static' })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401)
        // oxlint-disable-next-line typescript/only-throw-error -- so the router wants it
        throw redirect({ to: '/login', search: { to: location.href } as never })
      throw error
    }
  },
  errorComponent: RouteError,
})

/** The router would load the page again after a failure: without a server the browser shows an error instead of the page. */
const loadOf =
  ({ load }: ScreenRoute) =>
  async () => {
    try {
      // A browser drops what it is loading when the machine gets another network.
      return await load().catch(load)
    } catch (cause) {
      throw new NotLoaded(cause)
    }
  }

const screens = ROUTES.map((route) =>
  createRoute({
    getParentRoute: () => shell,
    path: route.path,
    component: lazyRouteComponent(loadOf(route), 'Screen'),
    errorComponent: RouteError,
  }),
)

export const makeRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: root.addChildren([login, shell.addChildren(screens)]),
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const filled = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '')
      const text = new URLSearchParams(filled as [string, string][]).toString()
      return text === '' ? '' : `?${text}`
    },
  })
