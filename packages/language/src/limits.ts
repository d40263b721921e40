/** Limits for reading one workflow file. */
export interface ReadLimits {
  /** Bytes of one workflow file. */
  readonly fileBytes: number
  /** Nodes of one file after expansion of aliases, which can turn a few lines into millions of nodes. */
  readonly nodes: number
  /** Characters of all values of one file after expansion of aliases. */
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

/** Limits for a workflow together with everything that it refers to. */
export const RESOLVE_LIMITS = { chars: 16 << 20, parents: 32 } as const
