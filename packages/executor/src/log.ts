type Fields = Readonly<Record<string, unknown>>

/** Messages are constant sentences, what varies goes into the fields; the logger of `platform` fits. */
export interface ExecutorLog {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
}
