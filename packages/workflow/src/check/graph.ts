interface Vertex {
  readonly name: string
  readonly depends_on?: readonly string[]
}

/** The names along the first circle found, its first name repeated at the end; `undefined` when there is none. */
export const findCircle = (vertices: readonly Vertex[]): string[] | undefined => {
  const byName = new Map(vertices.map((vertex) => [vertex.name, vertex]))
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (name: string): string[] | undefined => {
    if (done.has(name)) return undefined
    const seen = trail.indexOf(name)
    if (seen !== -1) return [...trail.slice(seen), name]
    trail.push(name)
    for (const next of byName.get(name)?.depends_on ?? []) {
      const circle = visit(next)
      if (circle !== undefined) return circle
    }
    trail.pop()
    done.add(name)
    return undefined
  }
  for (const { name } of vertices) {
    const circle = visit(name)
    if (circle !== undefined) return circle
  }
  return undefined
}
