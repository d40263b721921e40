import { expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Type } from 'typebox'
import * as contracts from '../src/index.ts'
import { AppError, canServe, classOf, compile, CreateRuns, needsOf, roleAllows } from '../src/index.ts'

const refused = (parse: () => unknown): AppError => {
  try {
    parse()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it was accepted')
}

test('all invalid fields are reported together, with their paths', () => {
  const error = refused(() =>
    compile(CreateRuns)({ flow: 3, targts: [], params: { 'a/b': 1 }, priority: 'urgent' }),
  )
  expect(error.code).toBe('invalid_input')
  expect(error.status).toBe(400)
  expect(error.details).toEqual([
    { path: '/targts', message: 'is not a known field' },
    { path: '/flow', message: 'must be string' },
    { path: '/params/a~1b', message: 'must be string' },
    { path: '/priority', message: 'must be one of low, normal, medium, high, critical' },
  ])
  expect(error.message).toBe('targts: is not a known field (and 3 more)')
})

test('a failed union is reported as one error', () => {
  const error = refused(() => compile(CreateRuns)({ flow: 'a', target: 'b', timeout: 'soon' }))
  expect(error.details).toEqual([
    {
      path: '/timeout',
      message: 'must be a whole number of minutes from 1 to 525600, or a duration such as 2h',
    },
  ])
})

test('an empty text, list or object is refused as empty', () => {
  const schema = Type.Object({
    text: Type.String({ minLength: 1 }),
    list: Type.Array(Type.String(), { minItems: 1 }),
    record: Type.Record(Type.String(), Type.String(), { minProperties: 1 }),
  })
  const empty = ['/text', '/list', '/record'].map((path) => ({ path, message: 'must not be empty' }))
  expect(refused(() => compile(schema)({ text: '', list: [], record: {} })).details).toEqual(empty)
})

test('values of a body are not coerced', () => {
  const error = refused(() => compile(Type.Object({ n: Type.Integer() }))({ n: '1' }))
  expect(error.details).toEqual([{ path: '/n', message: 'must be integer' }])
})

test('values of a query are coerced and defaults are filled in', () => {
  const parse = compile(
    Type.Object({ n: Type.Integer({ default: 20 }), on: Type.Optional(Type.Boolean()) }),
    { strictness: 'coerce' },
  )
  expect(parse({ n: '7', on: 'true' })).toEqual({ n: 7, on: true })
  expect(parse({})).toEqual({ n: 20 })
})

test.each(['1e3', '0x10', ' 7', '7.0', '+7', '', 'seven'])(
  'an integer in a query cannot be written as %j',
  (n) => {
    const parse = compile(Type.Object({ n: Type.Integer({ default: 20 }) }), { strictness: 'coerce' })
    expect(refused(() => parse({ n })).details).toEqual([{ path: '/n', message: 'must be integer' }])
  },
)

test('names of prototype properties are data', () => {
  const parse = compile(Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: false }))
  const error = refused(() => parse(JSON.parse('{"__proto__": {"a": "x"}}')))
  expect(error.details).toEqual([{ path: '/__proto__', message: 'is not a known field' }])
})

test('a worker serves a requirement class when it has all capabilities of the class', () => {
  const needs = needsOf(classOf(['tool:nmap', 'docker', 'docker']))
  expect(needs).toEqual(['docker', 'tool:nmap'])
  expect(canServe(['docker', 'tool:curl', 'tool:nmap'], needs)).toBe(true)
  expect(canServe(['docker'], needs)).toBe(false)
  expect(canServe([], needsOf(''))).toBe(true)
})

test('a role includes the permissions of lower roles', () => {
  expect(roleAllows('admin', 'viewer')).toBe(true)
  expect(roleAllows('viewer', 'operator')).toBe(false)
})

test('all schemas follow the schema of schemas, which programs do not check', () => {
  const ajv = new Ajv2020({ strict: false })
  const schemas = Object.entries(contracts).flatMap(([name, one]) =>
    typeof one === 'object' && '~kind' in one ? [[name, one] as const] : [],
  )
  expect(schemas.length).toBeGreaterThan(40)
  for (const [name, schema] of schemas) {
    void ajv.validateSchema(schema)
    expect({ name, errors: ajv.errors ?? [] }).toEqual({ name, errors: [] })
  }
})
