/** Every bound of the language in one place; each can be set. */
export interface ReadLimits {
  /** Bytes of one workflow file. */
  readonly fileBytes: number
  /** Nodes of one file after aliases are followed, so that a few lines cannot unfold into millions. */
  readonly nodes: number
  /** Characters of all values of one file after aliases are followed. */
  readonly chars: number
  /** Nesting of one file. */
  readonly depth: number
  /** Entries of one list or map: steps, modules, params, triggers. */
  readonly entries: number
  /** Characters of one expression. */
  readonly expressionChars: number
  /** Problems reported for one file; one more problem counts the rest. */
  readonly problems: number
}

export const READ_LIMITS: ReadLimits = {
  fileBytes: 1 << 20,
  nodes: 100_000,
  chars: 4 << 20,
  depth: 64,
  entries: 10_000,
  expressionChars: 32 << 10,
  problems: 200,
}

/** Bounds of a workflow together with everything it refers to. */
export const RESOLVE_LIMITS = { chars: 16 << 20, parents: 32 } as const
