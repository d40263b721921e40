import { useState } from 'react'
import { Button } from '../button.tsx'
import { Code, prettyJson } from './code.tsx'
import { CopyButton } from '../commands.tsx'
import { EmptyState } from '../page.tsx'

const FIRST_LINES = 16
const FIRST_CHARACTERS = 2_000

const beginOf = (text: string): string => text.split('\n', FIRST_LINES).join('\n').slice(0, FIRST_CHARACTERS)

/** Text under a heading, with a button that copies it. A long one shows its beginning first. */
export const LongText = ({ title, text }: { title: string; text: string }) => {
  const [open, setOpen] = useState(false)
  const begin = beginOf(text)
  const isLong = begin.length < text.length
  return (
    <section className="stack gap-6">
      <div className="line">
        <h2>{title}</h2>
        <CopyButton text={text} label={title} />
        {isLong ? (
          <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`}
          </Button>
        ) : null}
      </div>
      <Code label={title}>{open ? text : isLong ? `${begin}…` : text}</Code>
    </section>
  )
}

/** The JSON that a tool gave; `none`: why there may be none. */
export const RawRecord = ({ title, text, none }: { title: string; text: string; none: string }) =>
  text === '' ? (
    <EmptyState title="No raw record">{none}</EmptyState>
  ) : (
    <LongText title={title} text={prettyJson(text)} />
  )
