/** `1 run`, `2 runs`, `2 other addresses`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
