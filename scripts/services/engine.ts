/** Something real that tests run against. Disposing stops what was started for it. */
export interface Engine extends AsyncDisposable {
  /** URL, socket or path under which tests reach it. */
  readonly value: string
}
