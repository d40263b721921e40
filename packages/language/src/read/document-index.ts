import { isAlias, isMap, isNode, isPair, isScalar, isSeq, type Alias, type Document, type Node } from 'yaml'

/** Aliases and duplicate keys of a document. */
export interface DocumentIndex {
  /** The node that each alias refers to: the last one before it with that anchor. */
  readonly targets: ReadonlyMap<Alias, Node>
  /** Keys that occur twice in one map. */
  readonly duplicates: readonly Node[]
}

/**
 * Walks through a document once, in source order. The library's own ways to resolve an alias and to
 * compare keys walk through the document for each alias and through the map for each key.
 */
export const indexDocument = (document: Document.Parsed): DocumentIndex => {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  const duplicates: Node[] = []
  const open: unknown[] = [document.contents]
  while (open.length > 0) {
    const item = open.pop()
    if (isPair(item)) {
      open.push(item.value, item.key)
      continue
    }
    if (!isNode(item)) continue
    if (isAlias(item)) {
      const target = anchors.get(item.source)
      if (target !== undefined) targets.set(item, target)
      continue
    }
    if (item.anchor !== undefined) anchors.set(item.anchor, item)
    if (isMap(item)) duplicates.push(...repeated(item.items.map(({ key }) => key)))
    // The last pushed node is visited first.
    if (isMap(item) || isSeq(item))
      for (let index = item.items.length - 1; index >= 0; index--) open.push(item.items[index])
  }
  return { targets, duplicates }
}

/** `<<` without quotes. The library represents it as a symbol. */
export const isMergeKey = (key: unknown): boolean => isScalar(key) && typeof key.value === 'symbol'

/** A key as it is written: `1.10` stays `1.10`. */
export const keyText = (key: unknown): string => {
  if (!isScalar(key)) return ''
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

const repeated = (keys: readonly unknown[]): Node[] => {
  const seen = new Set<string>()
  return keys.filter((key): key is Node => {
    if (!isScalar(key)) return false
    const text = keyText(key)
    const known = seen.has(text)
    seen.add(text)
    return known
  })
}
