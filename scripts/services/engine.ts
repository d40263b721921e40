/** Something real that tests run against. Disposing stops what was started for it. */
export interface Engine extends AsyncDisposable {
  /** URL, address or path under which tests reach it; undefined: they start it themselves, and can do so here. */
  readonly value: string | undefined
}
