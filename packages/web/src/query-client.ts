import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { outage } from './live/outage.ts'
import { ApiError } from './api/client.ts'

const STALE_MS = 10_000

/** `onLoggedOut` is called for every answer 401. */
export const makeQueryClient = (onLoggedOut: () => void): QueryClient => {
  const onError = (error: unknown) => {
    if (!(error instanceof ApiError)) return
    if (error.status === 401) onLoggedOut()
    if (error.code === 'unreachable' || error.code === 'timeout') outage.suspect()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The server may be reachable although the browser has no network: on the same machine it is.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: STALE_MS,
        refetchOnWindowFocus: false,
        // The client repeats what is worth repeating.
        retry: false,
      },
    },
  })
}
