/**
 * A place in a document: `runs.[].results.[]` are the items of the lists `results` of the items of the list `runs`; `*` is
 * any key of an object. The empty pattern is a whole document.
 */
export interface Pattern {
  /** The pattern, if it ends here. */
  at?: string
  /** Patterns that continue with a key, and with an item of a list. */
  readonly keys: Map<string, Pattern>
  item?: Pattern
}

const newPattern = (): Pattern => ({ keys: new Map() })

/** A tree of patterns. */
export const patternsOf = (patterns: readonly string[]): Pattern => {
  const root = newPattern()
  for (const pattern of patterns) {
    let node = root
    for (const part of pattern === '' ? [] : pattern.split('.')) {
      const next = (part === '[]' ? node.item : node.keys.get(part)) ?? newPattern()
      if (part === '[]') node.item = next
      else node.keys.set(part, next)
      node = next
    }
    node.at = pattern
  }
  // A list of reports, as `jq -s` writes it, and a list in the list of a report: their items are what they are in.
  const repeated = root.item ?? root
  repeated.item ??= repeated
  return root
}

/** The patterns of a key of an object. */
export const underKey = (pattern: Pattern | undefined, key: string): Pattern | undefined =>
  pattern?.keys.get(key) ?? pattern?.keys.get('*')
