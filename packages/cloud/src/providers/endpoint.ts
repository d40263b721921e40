/** Without the version that the clients put behind it, which operators tend to copy along. */
export const baseOf = (endpoint: string): string => endpoint.replace(/\/+(v\d+(beta)?\/*)?$/, '')
