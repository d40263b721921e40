import { lazy, type FunctionComponent } from 'react'

/** Waits between tries: a network that comes or goes drops all requests of a moment. */
const WAITS_MS = [250, 500, 1_000, 2_000, 4_000, 8_000]

const loaded = async <T>(load: () => Promise<T>): Promise<T> => {
  for (const wait of WAITS_MS) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
  return await load()
}

/** A component in a file that is loaded when it is shown. React keeps a failure for ever, so the file is asked for again. */
export const late = <P>(load: () => Promise<FunctionComponent<P>>) =>
  lazy(async () => ({ default: await loaded(load) }))
