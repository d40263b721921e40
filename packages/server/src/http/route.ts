import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import {
  AppError,
  compile,
  type ErrorCode,
  type FieldError,
  type Pagination,
  type Role,
} from '@scanfarm/contracts'
import type { PageOf, PageRequest } from '@scanfarm/store'
import { Type, type Static, type TObject, type TSchema, type TString } from 'typebox'
import type { Caller } from '../access/authenticator.ts'
import type { ServerContext } from '../context.ts'
import type { Answer } from './answer.ts'
import { isPage, pageBody, pageRequest, type PageQuery } from './paging.ts'
import { fieldRefusal, refuse, textProblems } from './refusal.ts'
import { tagOf, type Tag } from './subjects.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A response other than JSON: its media types, for the OpenAPI document. */
export interface MediaResponse {
  readonly media: readonly string[]
  readonly description: string
  /** Schema of the media type `application/json`, if that is one of them. */
  readonly schema?: TSchema
}

export type Responses = Readonly<Record<number, TSchema | MediaResponse>>

/**
 * One endpoint. Requests are validated against it, handlers are typed by it, the OpenAPI document is generated from it,
 * and tests validate responses against it.
 */
export interface Endpoint<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  R extends Responses = Responses,
> {
  /** Below the API root, in OpenAPI syntax: `GET /runs/{id}`. */
  readonly endpoint: `${Uppercase<Method>} /${string}`
  readonly summary: string
  readonly description?: string
  /** Minimum role of the caller; `public`: no token is required. */
  readonly role: Role | 'public'
  /** Of the path; missing: texts. */
  readonly params?: P
  /** Values are coerced to the types of the schema; unknown parameters are refused. */
  readonly query?: Q
  /** JSON; validated without coercion. */
  readonly body?: B
  /** Maximum body size if it is not 1 MiB. */
  readonly bodyBytes?: number
  /** The body contains text from tools and hosts: NUL and lone surrogates are removed instead of refused. */
  readonly anyText?: boolean
  /** Checks that involve several fields. Used to complete the list of problems if the schema fails. */
  readonly rules?: (body: Static<B>) => readonly FieldError[]
  /** Converts other accepted forms of the body to the schema before validation. */
  readonly reads?: (body: unknown) => unknown
  /** Fields that are refused with specific advice instead of "is not a known field". */
  readonly refusedFields?: Readonly<Record<string, string>>
  /** A multipart form with one file in the field `file`; the handler reads `http.stream`. */
  readonly upload?: { readonly description: string }
  /** A file as the body itself or as in `upload`; the handler reads `http.stream`. */
  readonly file?: { readonly description: string }
  /** Successful responses by status; a plain return value has the first one. */
  readonly responses: R
  /** Errors of this route, except those of every route: of its query, its body and what its path names. */
  readonly errors?: readonly ErrorCode[]
  /** Request headers for the OpenAPI document. */
  readonly headers?: Readonly<Record<string, string>>
  /** Also served without the API root. */
  readonly bare?: boolean
  /** Other paths of the same endpoint, not listed in the document. */
  readonly aliases?: readonly string[]
}

/** An endpoint with the parts of its name. */
export interface RouteSpec<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  R extends Responses = Responses,
> extends Endpoint<P, Q, B, R> {
  readonly method: Method
  readonly path: string
  readonly tag: Tag
}

/** The request apart from its parameters. */
export interface Exchange {
  /** API root of the request: `/api` or `/osm/api`. */
  readonly root: string
  readonly requestId: string
  readonly ip: string
  /** Whether the client used https, to this server or to its proxy. */
  readonly secure: boolean
  /** Host and port as the client wrote them; not validated. */
  readonly host: string
  /** Scheme and host. */
  readonly origin: string
  readonly headers: IncomingHttpHeaders
  /** Reads a body without a schema, of at most `maxBytes`. */
  readBody(maxBytes: number): Promise<Buffer>
  /** The body of an upload. */
  readonly stream: IncomingMessage
  /** Aborts if the client disconnects before the answer. */
  signal(): AbortSignal
}

export interface Input<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly params: Static<P>
  readonly query: Static<Q>
  readonly body: Static<B>
  /** The page that the query of a list asks for. */
  readonly page: PageRequest
  /** The sender of the request; the guest for public routes. */
  readonly caller: Caller
  readonly http: Exchange
}

type Resource<R extends Responses> = {
  [S in keyof R]: R[S] extends TSchema ? Static<R[S]> | PageFor<Static<R[S]>> : never
}[keyof R]

/** What the store says of a page of a list, with the other fields of the answer. */
type PageFor<T> = T extends { data: (infer Item)[]; pagination: Pagination }
  ? PageOf<Item> & Omit<T, 'data' | 'pagination'>
  : never

/** The request before validation. */
export interface RawInput {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly caller: Caller
  readonly http: Exchange
}

/** Returns a resource or an `Answer`; a page of the store has become the resource of a list. */
export type Handle = (context: ServerContext, raw: RawInput) => Promise<unknown>

export interface Route {
  readonly spec: RouteSpec
  /** Compiles the validators; called once when the app is created. */
  prepare(): Handle
}

/** The names in braces. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/**
 * A plain resource is sent with the first declared status; an `Answer` has its own. A page of the store is sent as the
 * page of a list.
 */
export const route = <
  const R extends Responses,
  const E extends Endpoint['endpoint'],
  P extends TSchema = TObject<Record<NamesIn<E>, TString>>,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
>(
  endpoint: Endpoint<P, Q, B, R> & { readonly endpoint: E },
  handler: (context: ServerContext, input: Input<P, Q, B>) => Promise<Resource<R> | Answer>,
): Route => ({
  spec: withParts(endpoint),
  prepare() {
    const params = parser(paramsOf(endpoint), 'coerce', 'path')
    const query = parser(endpoint.query, 'coerce', 'query')
    const advised = advising(parser(endpoint.body, 'strict', 'body'), endpoint.refusedFields ?? {})
    const plain = endpoint.anyText === true ? advised : refusingOddText(advised)
    const { reads, rules } = endpoint
    const checked = rules === undefined ? plain : completing(plain, rules)
    const body = reads === undefined ? checked : (value: unknown) => checked(reads(value))
    return async (context, raw) => {
      const input = { params: params(raw.params), query: query(raw.query), body: body(raw.body) }
      const page = pageRequest(input.query as PageQuery)
      const result = await handler(context, { ...input, page, caller: raw.caller, http: raw.http })
      return isPage(result) ? pageBody(result, page) : result
    }
  },
})

const withParts = <P extends TSchema, Q extends TSchema, B extends TSchema, R extends Responses>(
  endpoint: Endpoint<P, Q, B, R>,
): RouteSpec<P, Q, B, R> => {
  const [method = '', path = ''] = endpoint.endpoint.split(' ')
  const params = paramsOf(endpoint)
  return {
    ...endpoint,
    ...(params && { params }),
    method: method.toLowerCase() as Method,
    path,
    tag: tagOf(path),
  }
}

const paramsOf = <P extends TSchema>({ endpoint, params }: Pick<Endpoint<P>, 'endpoint' | 'params'>) => {
  const names = [...endpoint.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, Type.String()])
  return params ?? (names.length === 0 ? undefined : (Type.Object(Object.fromEntries(names)) as TSchema as P))
}

type Unsupported = Pick<Endpoint, 'endpoint' | 'summary' | 'role' | 'params'> & {
  /** Why the endpoint is not supported, and what to do instead. */
  readonly description: string
}

/** Answers 501 with the reason for every body, so that clients of Osmedeus can tell it from a failure. */
export const unsupportedRoute = (spec: Unsupported): Route =>
  route({ ...spec, responses: {}, errors: ['not_implemented'] }, async () => {
    throw new AppError('not_implemented', spec.description)
  })

const parser = <S extends TSchema>(
  schema: S | undefined,
  strictness: 'strict' | 'coerce',
  subject: string,
): ((value: unknown) => Static<S>) =>
  schema === undefined ? () => ({}) as Static<S> : compile(schema, { strictness, subject })

/** Replaces the message for unknown fields with the advice of the route. */
const advising =
  <T>(parse: (value: unknown) => T, advice: Readonly<Record<string, string>>) =>
  (value: unknown): T => {
    try {
      return parse(value)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const details = error.details.map(({ path, message }) => ({
        path,
        message: adviceFor(path, advice) ?? message,
      }))
      const advised = error.details.some(({ path }) => adviceFor(path, advice) !== undefined)
      throw (advised && fieldRefusal(details)) || error
    }
  }

const adviceFor = (path: string, advice: Readonly<Record<string, string>>): string | undefined =>
  Object.hasOwn(advice, path.slice(1)) ? advice[path.slice(1)] : undefined

const refusingOddText =
  <T>(parse: (value: unknown) => T) =>
  (value: unknown): T => {
    const parsed = parse(value)
    refuse(textProblems(parsed))
    return parsed
  }

/** Adds the problems of `rules` to those of the schema, so that the caller sees all of them. */
const completing =
  <T>(parse: (value: unknown) => T, rules: (body: T) => readonly FieldError[]) =>
  (value: unknown): T => {
    try {
      return parse(value)
    } catch (error) {
      if (!(error instanceof AppError) || typeof value !== 'object' || value === null || Array.isArray(value))
        throw error
      const known = new Set(error.details.map(({ path }) => path))
      const others = rules(value as T).filter(({ path }) => !known.has(path))
      throw (others.length > 0 && fieldRefusal([...error.details, ...others])) || error
    }
  }
