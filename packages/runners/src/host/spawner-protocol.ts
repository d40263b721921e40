import type { LaunchRequest } from './launcher.ts'

/** What goes over the channel between a program and the small process that starts its commands. */
export type SpawnerRequest =
  | ({ readonly do: 'launch'; readonly id: number; readonly forget: readonly string[] } & LaunchRequest)
  | { readonly do: 'forget'; readonly forget: readonly string[] }

export type SpawnerReply =
  | { readonly id: number; readonly is: 'started'; readonly pid: number }
  | { readonly id: number; readonly is: 'failed'; readonly code: string; readonly message: string }
  | {
      readonly id: number
      readonly is: 'ended'
      readonly code: number | null
      readonly signal: string | null
    }
