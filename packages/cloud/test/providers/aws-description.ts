interface Shape {
  readonly type: string
  readonly required?: readonly string[]
  readonly members?: Readonly<Record<string, Member>>
  readonly member?: Member
  readonly enum?: readonly string[]
}
interface Member {
  readonly shape: string
  readonly locationName?: string
  readonly queryName?: string
}
interface Description {
  readonly operations: Readonly<Record<string, { readonly input?: Member }>>
  readonly shapes: Readonly<Record<string, Shape>>
}

interface Tree {
  [name: string]: Tree | string
}

/** Values may be newer than the description; the server knows them. */
const OPEN_WORDS = new Set(['InstanceType'])

/** Deviations of an EC2 request from the description: unknown or missing fields, wrong types and enum values. */
export function ec2Checker(description: string): (form: URLSearchParams) => string[] {
  const { operations, shapes }: Description = JSON.parse(description)

  const problems = (name: string, value: Tree | string | undefined, path: string): string[] => {
    const shape = shapes[name]
    if (!shape) return [`${path}: the description lacks ${name}`]
    if (value === undefined) return []
    if (shape.type === 'structure') return structure(shape, value, path)
    if (shape.type === 'list') return list(shape, value, path)
    if (typeof value !== 'string') return [`${path} has fields, and is a ${shape.type}`]
    return scalar(name, shape, value) ? [] : [`${path}: "${value}" is no ${name}`]
  }

  const structure = (shape: Shape, value: Tree | string, path: string): string[] => {
    if (typeof value === 'string') return [`${path} is plain, and has fields`]
    const members = new Map(
      Object.entries(shape.members ?? {}).map(([name, member]) => [wireName(name, member), { name, member }]),
    )
    const found = Object.entries(value).flatMap(([name, inner]) => {
      const known = members.get(name)
      return known ? problems(known.member.shape, inner, `${path}.${name}`) : [`${path}.${name} is unknown`]
    })
    const present = new Set(Object.keys(value).map((name) => members.get(name)?.name))
    const missing = (shape.required ?? []).filter((name) => !present.has(name))
    return [...found, ...missing.map((name) => `${path}.${name} is missing`)]
  }

  const list = (shape: Shape, value: Tree | string, path: string): string[] => {
    if (typeof value === 'string' || !shape.member) return [`${path} is no list`]
    const { shape: of } = shape.member
    const numbers = Object.keys(value).map(Number)
    const inOrder = numbers.every((number, at) => number === at + 1)
    return [
      ...(inOrder ? [] : [`${path} is not numbered from 1`]),
      ...Object.values(value).flatMap((item, at) => problems(of, item, `${path}.${at + 1}`)),
    ]
  }

  return (form) => {
    const { Action, Version, ...fields } = treeOf(form)
    const action = JSON.stringify(Action)
    const operation = typeof Action === 'string' ? operations[Action] : undefined
    if (!operation?.input) return [`there is no call ${action}`]
    const dated = Version === '2016-11-15' ? [] : [`the version is ${JSON.stringify(Version)}`]
    return [...dated, ...problems(operation.input.shape, fields, action)]
  }
}

/** By the rules of the `ec2` protocol: `queryName`, otherwise the capitalised location. */
function wireName(name: string, { queryName, locationName }: Member): string {
  const wire = locationName ?? name
  return queryName ?? wire.charAt(0).toUpperCase() + wire.slice(1)
}

function scalar(name: string, shape: Shape, value: string): boolean {
  if (shape.enum && !OPEN_WORDS.has(name)) return shape.enum.includes(value)
  if (shape.type === 'integer' || shape.type === 'long') return /^-?\d+$/.test(value)
  if (shape.type === 'boolean') return /^(true|false)$/.test(value)
  if (shape.type === 'timestamp') return !Number.isNaN(Date.parse(value))
  return true
}

function treeOf(form: URLSearchParams): Tree {
  const tree: Tree = {}
  for (const [path, value] of form) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    let at = tree
    for (const name of names) {
      const next = (at[name] ??= {})
      if (typeof next === 'string') throw new Error(`${path} is both plain and has fields`)
      at = next
    }
    at[last] = value
  }
  return tree
}
