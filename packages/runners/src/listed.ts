/** Whether one of the names fits one of the patterns, in which `*` stands for anything. */
export const isListed = (patterns: readonly string[], names: readonly string[]): boolean =>
  patterns.some((pattern) => {
    const source = pattern.split('*').map(RegExp.escape).join('.*')
    return names.some((name) => new RegExp(`^${source}$`).test(name))
  })
