export interface SourceEntry {
  /** Unique in the source, `/`-separated, with extension: `modules/probe.yaml`. */
  readonly path: string
  /** Changes with the text. */
  readonly version: string
  /** Size in bytes, if the source knows it without reading the file. */
  readonly size?: number
}

/** Where workflow files come from: a folder, memory, a table. */
export interface WorkflowSource {
  /** For messages, for example the path of a folder. */
  readonly name: string
  list(): Promise<readonly SourceEntry[]>
  read(path: string): Promise<string>
}

/** Workflows in memory. */
export const memorySource = (
  name: string,
): WorkflowSource & {
  put(path: string, text: string): void
  remove(path: string): void
} => {
  const texts = new Map<string, { text: string; version: number }>()
  let version = 0
  return {
    name,
    put(path, text) {
      texts.set(path, { text, version: ++version })
    },
    remove(path) {
      texts.delete(path)
    },
    list: async () => [...texts].map(([path, entry]) => ({ path, version: String(entry.version) })),
    read: async (path) => texts.get(path)?.text ?? '',
  }
}
