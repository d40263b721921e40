/** Where a command reads and writes, so that tests can look at it. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly err: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
}

export const processTerminal = (): Terminal => ({
  env: process.env,
  out: process.stdout,
  err: process.stderr,
})

/** Colours only on a terminal, and never where `NO_COLOR` is set. */
export const hasColours = ({ env, out }: Terminal): boolean => out.isTTY === true && !env.NO_COLOR

export const printLine = ({ out }: Terminal, line: string): void => void out.write(`${line}\n`)
