const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `30`, `30s`, `5m`, `1h30m`, `2d`; undefined if empty, negative (no limit) or anything else. */
export const parseDuration = (text: string): number | undefined => {
  const trimmed = text.trim().toLowerCase()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(trimmed)) return undefined
  let sum = 0
  for (const [, number, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    sum += Number(number) * (UNITS[unit ?? ''] ?? 0)
  }
  return sum
}

/** `90` for 90 000, `1.5` for 1500. */
export const inSeconds = (ms: number): string => String(Math.round(ms) / 1000)
