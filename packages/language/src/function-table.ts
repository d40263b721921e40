/** What the checks need to know about a function. */
export interface KnownFunction {
  readonly name: string
  /** Why the function always fails, and an alternative or `""`; undefined for functions that work. */
  readonly refused?: { readonly why: string; readonly instead: string }
  /** Set if triggers may call the function: it only computes, or only reads files. */
  readonly inTriggers?: 'computes' | 'reads'
}

/** The functions that expressions can call, by name and alias. */
export type FunctionTable = ReadonlyMap<string, KnownFunction>
