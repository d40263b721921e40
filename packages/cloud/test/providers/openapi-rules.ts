import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { Answer, Asked } from './fake-api.ts'

type Node = Readonly<Record<string, unknown>>

/** Validates the paths, parameters, bodies and statuses of requests and responses with an OpenAPI 3.0 document. */
export function openApiRules(document: Node): (asked: Asked, answer: Answer) => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: false })
  const strings = new Ajv({ strict: false, coerceTypes: true })
  for (const each of [ajv, strings]) {
    addFormats.default(each)
    each.addSchema({ ...document, $id: 'api' })
  }
  const compiled = new Map<unknown, ValidateFunction>()

  const deref = (value: unknown): Node => {
    if (!isNode(value)) return {}
    const { $ref } = value
    if (typeof $ref !== 'string') return value
    let at: unknown = document
    for (const key of $ref.slice(2).split('/')) at = isNode(at) ? at[key.replaceAll('~1', '/')] : undefined
    return deref(at)
  }
  /** Pointers in schemas refer to the document by this name. */
  const absolute = (schema: unknown): unknown =>
    JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/'))
  const problems = (by: Ajv, schema: Node, value: unknown, where: string): string[] => {
    const valid = compiled.get(schema) ?? by.compile(Object(absolute(schema)))
    compiled.set(schema, valid)
    if (valid({ value })) return []
    return [`${where}: ${by.errorsText(valid.errors)} (${JSON.stringify(value)?.slice(0, 300)})`]
  }
  const boxes = new Map<Node, Node>()
  /** Wrapped in an object, so that single values can be coerced, too. */
  const boxed = (schema: Node): Node => {
    const box = boxes.get(schema) ?? { type: 'object', properties: { value: schema }, required: ['value'] }
    boxes.set(schema, box)
    return box
  }
  /** Field names of a body. The document allows additional fields, which would hide misspelt ones. */
  const names = (schema: unknown): string[] => {
    const { properties, allOf, oneOf, anyOf } = deref(schema)
    const parts = [allOf, oneOf, anyOf].flatMap((some): unknown[] => (Array.isArray(some) ? some : []))
    return [...Object.keys(deref(properties)), ...parts.flatMap(names)]
  }

  const operationOf = ({ method, path }: Asked) => {
    for (const [template, operations] of Object.entries(deref(document['paths']))) {
      const keys = [...template.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key)
      const match = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(path)
      const operation = deref(operations)[method.toLowerCase()]
      if (match && isNode(operation))
        return { operation, inPath: Object.fromEntries(keys.map((key, at) => [key, match[at + 1]])) }
    }
    return undefined
  }

  return (asked, answer) => {
    const where = `${asked.method} ${asked.path}`
    const found = operationOf(asked)
    if (!found) return [`${where}: there is no such operation`]
    const { operation, inPath } = found
    const wrong: string[] = []

    const declared = (Array.isArray(operation['parameters']) ? operation['parameters'] : []).map(deref)
    const given: Record<string, string | undefined> = { ...Object.fromEntries(asked.query), ...inPath }
    for (const parameter of declared) {
      const name = String(parameter['name'])
      const value = given[name]
      if (value !== undefined)
        wrong.push(...problems(strings, boxed(deref(parameter['schema'])), value, `${where}, ${name}`))
      else if (parameter['required'] === true) wrong.push(`${where}: ${name} is missing`)
    }
    for (const name of asked.query.keys())
      if (!declared.some((parameter) => parameter['name'] === name && parameter['in'] === 'query'))
        wrong.push(`${where}: there is no parameter ${name}`)

    if (!/^Bearer \S+$/.test(asked.headers.authorization ?? '')) wrong.push(`${where}: no bearer token`)

    const wanted = jsonOf(operation['requestBody'])
    if (wanted && asked.body === undefined) wrong.push(`${where}: the body is missing`)
    if (!wanted && asked.body !== undefined) wrong.push(`${where}: there is a body`)
    if (wanted && asked.body !== undefined) {
      if (!asked.headers['content-type']?.startsWith('application/json'))
        wrong.push(`${where}: the body is said to be ${asked.headers['content-type']}`)
      wrong.push(...problems(ajv, boxed(wanted), asked.body, `${where}, body`))
      const known = names(wanted)
      for (const name of Object.keys(Object(asked.body)))
        if (!known.includes(name)) wrong.push(`${where}, body: there is no ${name}`)
    }

    const responses = deref(operation['responses'])
    const response = deref(responses[answer.status] ?? responses['default'])
    const promised = jsonOf(response)
    if (promised)
      wrong.push(...problems(ajv, boxed(promised), answer.body, `${where}, answer ${answer.status}`))
    else if (answer.body !== undefined) wrong.push(`${where}, answer ${answer.status}: there is a body`)
    return wrong
  }

  function jsonOf(value: unknown): Node | undefined {
    const schema = deref(deref(deref(value)['content'])['application/json'])['schema']
    return isNode(schema) ? schema : undefined
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
