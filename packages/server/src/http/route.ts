import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { AppError, compile, type ErrorCode, type FieldError, type Role } from '@scanfarm/contracts'
import type { Static, TSchema } from 'typebox'
import type { Caller } from '../access/caller.ts'
import type { ServerContext } from '../context.ts'
import type { Answer } from './answer.ts'
import { fieldRefusal, refuse } from './field-refusal.ts'
import { textProblems } from './plain-text.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A response that is not JSON: its media types, for the document. */
export interface MediaResponse {
  readonly media: readonly string[]
  readonly description: string
  /** Shape of `application/json` where that is among them. */
  readonly schema?: TSchema
}

export type Responses = Readonly<Record<number, TSchema | MediaResponse>>

/**
 * One endpoint. Everything that is known of it stands here: requests are checked against it, handlers are typed by it,
 * the OpenAPI document is made of it, and in tests responses are checked against it too.
 */
export interface RouteSpec<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  R extends Responses = Responses,
> {
  readonly method: Method
  /** Below the API root, as OpenAPI writes it: `/runs/{id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** Least role that may call it; `public`: no token is asked for. */
  readonly role: Role | 'public'
  readonly params?: P
  /** Text is coerced to the types; an unknown parameter is refused. */
  readonly query?: Q
  /** JSON; checked strictly. */
  readonly body?: B
  /** Most bytes of the body where they are not 1 MiB; the setting `http.json_bytes` can only lower it. */
  readonly bodyBytes?: number
  /** The body carries what tools and hosts wrote: NUL and half surrogate pairs in it are dropped, not refused. */
  readonly anyText?: boolean
  /** What is wrong with the fields in view of each other; asked only to complete the list when the shape is wrong. */
  readonly rules?: (body: Static<B>) => readonly FieldError[]
  /** Brings other forms of the body that are taken too into that of the schema, before it is checked. */
  readonly reads?: (body: unknown) => unknown
  /** Fields that are refused with advice of their own instead of "is not a known field". */
  readonly refusedFields?: Readonly<Record<string, string>>
  /** Multipart form with one file in the field `file`; the handler reads `http.stream`. */
  readonly upload?: { readonly description: string }
  /** A file as the body itself, or as in `upload`; the handler reads `http.stream`. */
  readonly file?: { readonly description: string }
  /** Success answers by status; a plain return value goes out with the first. */
  readonly responses: R
  /** Refusals of this route besides those that every route may give. */
  readonly errors?: readonly ErrorCode[]
  /** Request headers worth documenting. */
  readonly headers?: Readonly<Record<string, string>>
  /** Also served without the API root. */
  readonly bare?: boolean
  /** Other paths for the same thing, left out of the document. */
  readonly aliases?: readonly string[]
}

/** The parts of the request that are not parameters. */
export interface Exchange {
  /** API root that the request came in by, such as `/api`. */
  readonly root: string
  readonly requestId: string
  readonly ip: string
  readonly headers: IncomingHttpHeaders
  /** A body of at most `maxBytes` that no schema describes. */
  readBody(maxBytes: number): Promise<Buffer>
  /** The body of an upload. */
  readonly stream: IncomingMessage
  /** Aborts when the client goes away before the answer. */
  signal(): AbortSignal
}

export interface Input<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly params: Static<P>
  readonly query: Static<Q>
  readonly body: Static<B>
  /** Who asks; the handlers of public routes see the guest. */
  readonly caller: Caller
  readonly http: Exchange
}

type Resource<R extends Responses> = {
  [S in keyof R]: R[S] extends TSchema ? Static<R[S]> : never
}[keyof R]

/** Request parts as they came in, before any check. */
export interface RawInput {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly caller: Caller
  readonly http: Exchange
}

/** What a handler gave: a resource or an `Answer`. */
export type Handle = (context: ServerContext, raw: RawInput) => Promise<unknown>

export interface Route {
  readonly spec: RouteSpec
  /** Makes the validators; done once, when the app is put together. */
  prepare(): Handle
}

/** A plain resource goes out with the status of the first response; an `Answer` names its own. */
export const route = <
  const R extends Responses,
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
>(
  spec: RouteSpec<P, Q, B, R>,
  handler: (context: ServerContext, input: Input<P, Q, B>) => Promise<Resource<R> | Answer>,
): Route => ({
  spec,
  prepare() {
    const params = parser(spec.params, 'coerce', 'path')
    const query = parser(spec.query, 'coerce', 'query')
    const advised = advising(parser(spec.body, 'strict', 'body'), spec.refusedFields ?? {})
    const plain = spec.anyText === true ? advised : refusingOddText(advised)
    const checked = spec.rules === undefined ? plain : completing(plain, spec.rules)
    const { reads } = spec
    const body = reads === undefined ? checked : (value: unknown) => checked(reads(value))
    return (context, raw) =>
      handler(context, {
        params: params(raw.params),
        query: query(raw.query),
        body: body(raw.body),
        caller: raw.caller,
        http: raw.http,
      })
  },
})

type Unsupported = Pick<RouteSpec, 'method' | 'path' | 'tag' | 'summary' | 'role' | 'params'> & {
  /** Why it is not carried out, and what to do instead. */
  readonly description: string
}

/** Answers 501 with the reason, whatever the body; clients of the established API then know that it is no fault. */
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

/** Puts the route's own advice where the validator only knows that it does not know the field. */
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

/** A body of the wrong shape hears of everything else that is wrong with it too. */
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
