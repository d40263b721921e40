/** Something real that tests run against. Disposing stops what was started for it. */
export interface Engine extends AsyncDisposable {
  /** URL, address or path under which tests reach it. */
  readonly value: string
}
