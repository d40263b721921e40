import { call } from './attacked-farm.ts'

export const ROOTS = ['/api', '/osm/api'] as const
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
export type NeededRole = 'public' | 'viewer' | 'operator' | 'admin'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Readonly<Record<string, unknown>>
}

interface DocumentedOperation {
  readonly 'x-required-role'?: NeededRole
  readonly 'x-aliases'?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly role: NeededRole
  readonly parameters: readonly Parameter[]
  /** Whether its body is JSON. */
  readonly json: boolean
}

/** Every operation of the running server's document, including aliases. */
export async function operations(): Promise<Operation[]> {
  const { json } = await call('get', '/openapi.json', { token: '' })
  const paths = json?.['paths'] as Record<string, Record<string, DocumentedOperation>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const role = operation['x-required-role']
      if (role === undefined)
        throw new Error(`${method} ${path} has no x-required-role in the OpenAPI document`)
      return [path, ...(operation['x-aliases'] ?? [])].map((one) => ({
        method,
        path: one,
        role,
        parameters: operation.parameters ?? [],
        json: operation.requestBody?.content['application/json'] !== undefined,
      }))
    }),
  )
}

/** `GET /runs/{id}` */
export const nameOf = ({ method, path }: Pick<Operation, 'method' | 'path'>): string =>
  `${method.toUpperCase()} ${path}`

/** The path with a percent-encoded value for each parameter. The default is an id that does not exist. */
export const concrete = (path: string, encoded = '999999999999'): string =>
  path.replaceAll(/\{\w+\}/g, () => encoded)
