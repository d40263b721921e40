import { asList, asText, at } from '../../fields.ts'

export const itemAt = (list: readonly unknown[], index: unknown): unknown =>
  typeof index === 'number' ? list[index] : undefined

/** The driver or an extension of a tool. */
interface Component {
  readonly guid: string
  readonly name: string
  readonly listed: readonly unknown[]
  /** Also by the GUID. */
  readonly byId: ReadonlyMap<string, unknown>
}

/** How a result, a notification or an override names a descriptor. */
export const referenceIn = (descriptor: unknown) => ({
  id: asText(at(descriptor, 'id')) || asText(at(descriptor, 'guid')),
  index: at(descriptor, 'index'),
  toolComponent: at(descriptor, 'toolComponent'),
})

export type Reference = ReturnType<typeof referenceIn>

/** An id with a thousand parts must not be looked up a thousand times. */
const MAX_OUTER = 16

/** `a/b` and `a` of `a/b/c`, the longest first. */
const outerParts = (id: string): string[] => {
  const parts = id.split('/', MAX_OUTER + 1)
  const isCut = id.length > parts.join('/').length
  return parts
    .map((_, at) => parts.slice(0, at + (isCut ? 1 : 0)).join('/'))
    .filter(Boolean)
    .toReversed()
}

const OVERRIDES = { rules: 'ruleConfigurationOverrides', notifications: 'notificationConfigurationOverrides' }

/** The rules or the notifications of a tool, and the levels that its invocations have given them. */
export class Descriptors {
  readonly #components: readonly Component[]
  /** For each invocation, by the descriptor, or by its id if the tool does not list it. */
  readonly #levels: readonly ReadonlyMap<unknown, string>[]

  constructor(tool: unknown, list: keyof typeof OVERRIDES, invocations: readonly unknown[]) {
    const components = [at(tool, 'driver'), ...asList(at(tool, 'extensions'))]
    this.#components = components.map((component) => {
      const listed = asList(at(component, list))
      const ids = (one: unknown): string[] =>
        ['id', 'guid'].map((name) => asText(at(one, name))).filter(Boolean)
      const byId = new Map(listed.flatMap((one) => ids(one).map((id) => [id, one] as const)))
      return { guid: asText(at(component, 'guid')), name: asText(at(component, 'name')), listed, byId }
    })
    this.#levels = invocations.map((invocation) => {
      const overrides = asList(at(invocation, OVERRIDES[list])).map((one): [unknown, string] => [
        this.#keyOf(referenceIn(at(one, 'descriptor'))),
        asText(at(one, 'configuration', 'level')),
      ])
      return new Map(overrides.filter(([key, level]) => key !== '' && level !== ''))
    })
  }

  /** By its component and index, or else by its id, of which the descriptor may have the first part. */
  of({ id, index, toolComponent }: Reference): unknown {
    const own = this.#componentOf(toolComponent)
    const [first, ...others] = own === undefined ? this.#components : [own, ...this.#components]
    const indexed = itemAt(first?.listed ?? [], index)
    const idOfIndexed = asText(at(indexed, 'id'))
    if (indexed !== undefined && (id === '' || id === idOfIndexed || id.startsWith(`${idOfIndexed}/`)))
      return indexed
    for (const part of [id, ...outerParts(id)])
      for (const one of [first, ...others]) if (one?.byId.has(part)) return one.byId.get(part)
    return id === '' ? undefined : indexed
  }

  /** The level of what names none itself. An invocation that is not named is any one. */
  levelOf(reference: Reference, invocation: unknown): string {
    const isNamed = typeof invocation === 'number' && invocation >= 0
    const levels = isNamed ? this.#levels.slice(invocation, invocation + 1) : this.#levels
    const key = this.#keyOf(reference)
    const override = levels.map((one) => one.get(key)).find((level) => level !== undefined)
    return override ?? (asText(at(this.of(reference), 'defaultConfiguration', 'level')) || 'warning')
  }

  #keyOf(reference: Reference): unknown {
    return this.of(reference) ?? reference.id
  }

  /** By the index of an extension, by its id or by its name; undefined: none is named. */
  #componentOf(reference: unknown): Component | undefined {
    const index = at(reference, 'index')
    if (typeof index === 'number' && index >= 0) return this.#components[index + 1]
    const named = (key: 'guid' | 'name'): Component | undefined => {
      const text = asText(at(reference, key))
      return text === '' ? undefined : this.#components.find((one) => one[key] === text)
    }
    return named('guid') ?? named('name')
  }
}
