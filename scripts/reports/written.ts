import { execFileSync } from 'node:child_process'
import { createReadStream, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FindingContent, Vulnerability } from '../../packages/contracts/src/index.ts'
import { openReport, writeFindings } from '../../packages/findings/src/index.ts'
import { record } from '../../packages/findings/test/records.ts'
import { install } from './install.ts'

/** Writes the findings of all fixtures as SARIF, and lets other tools read them. */
export const checkWritten = async (work: string, fixtures: string): Promise<boolean> => {
  const findings: FindingContent[] = []
  for (const name of readdirSync(fixtures)) {
    const { batches } = await openReport(undefined, createReadStream(join(fixtures, name)))
    for await (const batch of batches) findings.push(...batch.vulnerabilities)
  }
  const out = join(work, 'written.sarif')
  const text = (await Array.fromAsync(writeFindings('sarif', pageOf(findings)))).join('')
  writeFileSync(out, text)
  console.log(`written: ${findings.length} findings as SARIF`)

  const reader = install('sarif', ['pip', 'sarif-tools==3.0.5'], work)
  const summary = execFileSync(join(reader.bin, 'sarif'), ['summary', out], { encoding: 'utf8' })
  const read = [...summary.matchAll(/^(?:error|warning|note|none): (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  )
  console.log(`  sarif-tools ${reader.version}: ${read} findings`)

  const multitool = install('sarif-multitool', ['npm', '@microsoft/sarif-multitool@5.7.0'], work)
  const validate = [join(multitool.bin, 'sarif-multitool'), ['validate', out]] as const
  const errors = execFileSync(...validate, { encoding: 'utf8' }).match(/^.*: error \w+\d+: .*$/gm) ?? []
  console.log(
    [`  sarif-multitool ${multitool.version}: ${errors.length} errors`, ...errors.slice(0, 10)].join(
      '\n    ',
    ),
  )
  return read === findings.length && errors.length === 0
}

async function* pageOf(findings: readonly FindingContent[]): AsyncGenerator<Vulnerability[]> {
  yield findings.map((finding, id) => record({ ...finding, id }))
}
