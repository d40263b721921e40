import { queryOptions } from '@tanstack/react-query'
import { callRoute } from './client.ts'

export interface Session {
  readonly username?: string
  readonly role?: string
}

export type Credentials =
  | { readonly username: string; readonly password: string }
  | { readonly token: string }
  | { readonly code: string }

const sessionOf = (answered: unknown): Session => {
  const body = answered as { data?: Session } & Session
  return body.data ?? body
}

/** Who is logged in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => sessionOf(await callRoute('GET', '/session')),
  staleTime: Infinity,
  retry: false,
})

export const logIn = (credentials: Credentials): Promise<unknown> =>
  callRoute('POST', '/session', credentials)
export const logOut = (): Promise<unknown> => callRoute('DELETE', '/session')
