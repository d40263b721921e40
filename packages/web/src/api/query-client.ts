import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './client.ts'

const STALE_MS = 10_000

/** `onLoggedOut` is called for every answer 401. */
export const makeQueryClient = (onLoggedOut: () => void): QueryClient => {
  const onError = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) onLoggedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        refetchOnWindowFocus: false,
        // The client repeats what is worth repeating.
        retry: false,
      },
    },
  })
}
