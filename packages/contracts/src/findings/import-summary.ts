import type { ImportSummary } from './findings.ts'

export const NOTHING_IMPORTED: ImportSummary = {
  new: 0,
  updated: 0,
  unchanged: 0,
  known: 0,
  merged: 0,
  errors: 0,
}

export const addImports = (a: ImportSummary, b: ImportSummary): ImportSummary => ({
  new: a.new + b.new,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
  known: a.known + b.known,
  merged: a.merged + b.merged,
  errors: a.errors + b.errors,
})
