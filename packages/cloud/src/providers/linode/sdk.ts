import { AsyncLocalStorage } from 'node:async_hooks'
import { loadSdk } from '../sdk.ts'

/** A Linode, as far as the farm looks at it. */
export interface LinodeMachine {
  readonly id: number
  readonly label: string
  readonly status: string
  /** UTC without saying so: `2026-01-31T12:00:00`. */
  readonly created: string
  readonly ipv4: readonly string[]
  /** With the length of its prefix. */
  readonly ipv6: string | null
  readonly tags: readonly string[]
}

export interface LinodeOrder {
  readonly label: string
  readonly region: string
  readonly type: string
  readonly image: string
  readonly root_pass: string
  readonly authorized_keys: readonly string[]
  readonly tags: readonly string[]
  readonly metadata: { readonly user_data: string }
  readonly booted: boolean
  readonly backups_enabled: boolean
  readonly private_ip: boolean
}

export interface LinodeKind {
  readonly id: string
  readonly price: { readonly hourly: number | null }
  readonly region_prices: readonly { readonly id: string; readonly hourly: number | null }[]
}

export interface Page<T> {
  readonly data: T[]
  readonly pages: number
}

interface Paging {
  readonly page: number
  readonly page_size: number
}

interface RequestConfig {
  readonly url?: string
  readonly headers: { set(name: string, value: string): void }
}

// The types that the SDK ships name its own files without their endings, which Node's rules do not find; so what is used of
// it is declared here.
declare module '@linode/api-v4' {
  export const baseRequest: {
    readonly interceptors: {
      readonly request: { use(change: (config: RequestConfig) => object): number; eject(id: number): void }
    }
  }
  export function createLinode(order: LinodeOrder): Promise<LinodeMachine>
  export function getLinode(id: number): Promise<LinodeMachine>
  export function getLinodes(paging: Paging, filter: { readonly tags?: string }): Promise<Page<LinodeMachine>>
  export function deleteLinode(id: number): Promise<unknown>
  export function getLinodeTypes(paging: Paging): Promise<Page<LinodeKind>>
  export function getRegion(id: string): Promise<{ readonly capabilities: readonly string[] }>
}

export type Sdk = typeof import('@linode/api-v4')

const SDK_ENDPOINT = 'https://api.linode.com'
/** Of an answer. */
const MOST_BYTES = 16 * 1024 * 1024

export interface OpenSdk {
  call<T>(signal: AbortSignal, use: (sdk: Sdk) => Promise<T>): Promise<T>
  close(): void
}

/**
 * The SDK has one client for the whole process, with the URL of the provider in it. What a call of ours needs instead goes with
 * that very call, so that several of us, with tokens and endpoints of their own, may share it.
 */
export async function openSdk(token: string, endpoint: string): Promise<OpenSdk> {
  const sdk = await loadSdk('linode', async () => await import('@linode/api-v4'))
  const calls = new AsyncLocalStorage<AbortSignal>()
  const { request } = sdk.baseRequest.interceptors
  const id = request.use((config) => {
    const signal = calls.getStore()
    if (!signal) return config
    config.headers.set('Authorization', `Bearer ${token}`)
    const url = config.url?.replace(SDK_ENDPOINT, endpoint)
    return { ...config, url, signal, maxContentLength: MOST_BYTES }
  })
  return {
    call: (signal, use) => calls.run(signal, () => use(sdk)),
    close: () => request.eject(id),
  }
}
