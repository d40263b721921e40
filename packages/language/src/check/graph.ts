interface Vertex {
  readonly name: string
  readonly depends_on?: readonly string[]
}

interface Visit {
  readonly name: string
  readonly needs: readonly string[]
  next: number
}

/** The names of the first cycle found, with the first name repeated at the end; undefined if there is no cycle. */
export const findCircle = (vertices: readonly Vertex[]): string[] | undefined => {
  const byName = new Map(vertices.map((vertex) => [vertex.name, vertex]))
  const done = new Set<string>()
  /** Names on the current path with their positions. */
  const open = new Map<string, number>()
  const trail: Visit[] = []
  const enter = (name: string): void => {
    open.set(name, trail.length)
    trail.push({ name, needs: byName.get(name)?.depends_on ?? [], next: 0 })
  }
  for (const { name } of vertices) {
    if (!done.has(name)) enter(name)
    for (let visit = trail.at(-1); visit !== undefined; visit = trail.at(-1)) {
      const next = visit.needs[visit.next++]
      if (next === undefined) {
        trail.pop()
        open.delete(visit.name)
        done.add(visit.name)
        continue
      }
      const at = open.get(next)
      if (at !== undefined) return [...trail.slice(at).map((each) => each.name), next]
      if (!done.has(next)) enter(next)
    }
  }
  return undefined
}
