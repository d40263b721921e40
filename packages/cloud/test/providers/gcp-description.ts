import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

/** Of protobuf's own description format, as JSON. */
interface Field {
  readonly type: string
  readonly keyType?: string
  readonly rule?: string
  readonly options?: Readonly<Record<string, unknown>>
}
interface Message {
  readonly fields?: Readonly<Record<string, Field>>
  readonly nested?: Readonly<Record<string, { readonly values?: Readonly<Record<string, number>> }>>
}
interface Method {
  readonly requestType: string
  readonly responseType: string
  readonly options: Readonly<Record<string, string>>
}
type Messages = Readonly<Record<string, Message & { readonly methods?: Readonly<Record<string, Method>> }>>
interface Namespace {
  readonly nested: Readonly<Record<string, Namespace>>
}

export interface Call {
  readonly name: string
  /** What the path says, such as project and zone. */
  readonly places: Readonly<Record<string, string>>
}

export interface Description {
  /** Undefined: there is no such call. */
  callOf(method: string, path: string): Call | undefined
  /** What is wrong with a request, path included, by Google's description. */
  request(call: Call, query: URLSearchParams, body: unknown): string[]
  answer(call: Call, body: unknown): string[]
}

/** Added by the library to every call. */
const SYSTEM_PARAMETERS = new Set(['$alt', 'alt', '$prettyPrint'])

/** Google's description of Compute Engine, which its library carries: 12 MB. */
export async function describeCompute(services: readonly string[]): Promise<Description> {
  const file = createRequire(import.meta.url).resolve('@google-cloud/compute/build/protos/protos.json')
  const root: Namespace = JSON.parse(await readFile(file, 'utf8'))
  const v1 = root.nested.google?.nested.cloud?.nested.compute?.nested.v1?.nested
  const messages = v1 as Messages | undefined
  if (!messages) throw new Error('the description has no google.cloud.compute.v1')

  const methods = services.flatMap((service) =>
    Object.entries(messages[service]?.methods ?? {}).map(([name, method]) => ({
      name: `${service}.${name}`,
      method,
    })),
  )
  const methodOf = (call: Call): Method | undefined => methods.find(({ name }) => name === call.name)?.method

  const wrong = (type: string, value: unknown, path: string, within: Message): string[] => {
    const message = messages[type]
    const values = within.nested?.[type]?.values
    if (values)
      return Object.keys(values).includes(String(value)) ? [] : [`${path}: "${String(value)}" is no ${type}`]
    if (!message) return isScalar(type, value) ? [] : [`${path} is no ${type}: ${JSON.stringify(value)}`]
    if (!isObject(value)) return [`${path} is no ${type}`]
    return Object.entries(value).flatMap(([name, inner]) => {
      const field = message.fields?.[name]
      return field ? wrongField(field, inner, `${path}.${name}`, message) : [`${path}.${name} is unknown`]
    })
  }

  const wrongField = (field: Field, value: unknown, path: string, within: Message): string[] => {
    const one = (inner: unknown, at: string | number) => wrong(field.type, inner, `${path}.${at}`, within)
    if (field.keyType)
      return isObject(value)
        ? Object.entries(value).flatMap(([key, inner]) => one(inner, key))
        : [`${path} is no map`]
    if (field.rule === 'repeated') return Array.isArray(value) ? value.flatMap(one) : [`${path} is no list`]
    return wrong(field.type, value, path, within)
  }

  return {
    callOf(method, path) {
      for (const { name, method: known } of methods) {
        const template = known.options[`(google.api.http).${method.toLowerCase()}`]
        const places = template === undefined ? undefined : match(template, path)
        if (places) return { name, places }
      }
      return undefined
    },
    request(call, query, body) {
      const method = methodOf(call)
      const message = messages[method?.requestType ?? '']
      if (!method || !message) return [`${call.name} is unknown`]
      const bodyName = method.options['(google.api.http).body']
      const bodyField = Object.keys(message.fields ?? {}).find((name) => snake(name) === bodyName)
      const fields = [...query]
        .filter(([name]) => !SYSTEM_PARAMETERS.has(name))
        .flatMap(([name, value]) => {
          const field = message.fields?.[name]
          return field ? wrongField(field, value, name, message) : [`${name} is unknown`]
        })
      const field = bodyField && message.fields?.[bodyField]
      if (!field) return body === undefined ? fields : [...fields, 'there is a body']
      return [...fields, ...wrongField(field, body, bodyField, message)]
    },
    answer(call, body) {
      return wrong(methodOf(call)?.responseType ?? '', body, `answer of ${call.name}`, {})
    },
  }
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function match(template: string, path: string): Record<string, string> | undefined {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const found = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(path)
  return found
    ? Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? '')]))
    : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** In JSON's form of protobuf, where numbers of 64 bits are text; all of a query is text. */
function isScalar(type: string, value: unknown): boolean {
  if (/^u?int(32|64)$/.test(type)) return /^-?\d+$/.test(String(value))
  if (type === 'bool') return value === true || value === false || value === 'true' || value === 'false'
  return type === 'string' && typeof value === 'string'
}
