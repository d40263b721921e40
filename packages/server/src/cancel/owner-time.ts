/** Time that the owner of a run has beyond the grace of the killed processes: to kill, to upload and to report. */
const ANSWER_MS = 4_000

/** How long after the request the owner of a run may report its end, before the run is ended without it. */
export const ownerMs = (cancelGraceMs: number): number => cancelGraceMs + ANSWER_MS
