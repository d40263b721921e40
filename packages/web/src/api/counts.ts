/** Counts cost more than a page of a list: they are refreshed now and then, and do not follow each event. */
export const COUNTS = { refetchInterval: 10_000 } as const
