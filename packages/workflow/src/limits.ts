/** Every bound of the language in one place; each can be set. */
export interface ReadLimits {
  /** Bytes of one workflow file. */
  readonly fileBytes: number
  /** Nodes of one file after aliases are followed, so that a few lines cannot unfold into millions. */
  readonly nodes: number
  /** Nesting of one file. */
  readonly depth: number
  /** Problems reported for one file. */
  readonly problems: number
}

export const READ_LIMITS: ReadLimits = { fileBytes: 1 << 20, nodes: 100_000, depth: 64, problems: 200 }
