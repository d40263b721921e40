import { expect, test } from '@jest/globals'
import { AppError, type ErrorCode } from '@scanfarm/contracts'
import { apiRoutes } from '../../src/index.ts'
import { openApi } from '../../src/http/openapi.ts'
import { checkRefusal } from '../../src/http/response-check.ts'

const document = openApi(apiRoutes())

/** Every object of the document, with its path. */
function* objects(node: unknown, path = ''): Generator<[path: string, object: Record<string, unknown>]> {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) yield [path, node as Record<string, unknown>]
  for (const [key, value] of Object.entries(node)) yield* objects(value, `${path}/${key}`)
}
const where = (wrong: (object: Record<string, unknown>) => boolean): string[] =>
  [...objects(document)].flatMap(([path, object]) => (wrong(object) ? [path] : []))

test('An enumeration has a type, so that generated code knows when it is not given', () => {
  expect(where((object) => Array.isArray(object['enum']) && !('type' in object))).toEqual([])
})

test('A boolean has no constant, which generated code compares with a text', () => {
  expect(where((object) => typeof object['const'] === 'boolean')).toEqual([])
})

test('The body of a request has one media type', () => {
  const content = (object: Record<string, unknown>): object =>
    (object['requestBody'] as { content?: object } | undefined)?.content ?? {}
  expect(where((object) => Object.keys(content(object)).length > 1)).toEqual([])
})

test.each(['severity', 'confidence', 'state'])('A list of the filter %s is an array of its words', (name) => {
  const { get } = (document['paths'] as Record<string, { get: { parameters: { name: string }[] } }>)[
    '/vulnerabilities'
  ] ?? { get: { parameters: [] } }
  expect(get.parameters.find((parameter) => parameter.name === name)).toMatchObject({
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { enum: expect.any(Array) } },
  })
})

test('An optional property that may be null has one type: the generator for Python refuses a choice', () => {
  const isChoice = (property: { anyOf?: { type?: string }[] }): boolean =>
    property.anyOf?.some(({ type }) => type === 'null') === true &&
    !property.anyOf.some((one) => '$ref' in one)
  expect(
    where(({ properties = {}, required = [] }) =>
      Object.entries(properties as Record<string, { anyOf?: { type?: string }[] }>).some(
        ([name, property]) => !(required as string[]).includes(name) && isChoice(property),
      ),
    ),
  ).toEqual([])
})

test('No endpoint is hidden by one before it whose parameter takes its path', () => {
  const specs = apiRoutes().map(({ spec }) => spec)
  const hides = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
  const hidden = specs.filter(({ method, path }, at) =>
    specs.slice(0, at).some((one) => one.method === method && hides(one.path).test(path)),
  )
  expect(hidden.map(({ endpoint }) => endpoint)).toEqual([])
})

test('A test server finds a refusal with a code that its route does not document', () => {
  const spec = apiRoutes().find(({ spec: { endpoint } }) => endpoint === 'GET /runs')?.spec
  if (spec === undefined) throw new Error('there is no GET /runs')
  const refuse = (code: ErrorCode) => () => checkRefusal(spec, new AppError(code, 'refused'))
  expect(refuse('conflict')).toThrow('GET /runs answered with the undocumented error conflict')
  expect(refuse('not_found')).not.toThrow()
  expect(refuse('internal')).not.toThrow()
})
