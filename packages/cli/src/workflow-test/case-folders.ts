import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newUuid } from '@scanfarm/platform'

/** The folders of one run of a case, and the texts that stand for them in its file. */
export class CaseFolders implements AsyncDisposable {
  readonly uuid = newUuid()
  readonly output: string
  readonly temp: string
  readonly home: string
  /** Stand-ins, first on PATH. */
  readonly programs: string
  /** What the stand-ins read and note. */
  readonly calls: string
  /** Stand for folders of PATH that have programs which the case does without. */
  readonly links: string
  readonly #root: string
  readonly #names: readonly (readonly [value: string, placeholder: string])[]

  private constructor(root: string, cases: string) {
    this.#root = root
    this.output = join(root, 'output')
    this.temp = join(root, 'temp')
    this.home = join(root, 'home')
    this.programs = join(root, 'programs')
    this.calls = join(root, 'calls')
    this.links = join(root, 'links')
    this.#names = [
      [this.output, '{{Output}}'],
      [this.temp, '{{Temp}}'],
      [this.home, '{{Home}}'],
      [cases, '{{Cases}}'],
      [this.uuid, '{{Run}}'],
    ]
  }

  /** `cases`: the folder of the cases, which may hold lists and other input. */
  static async make(cases: string): Promise<CaseFolders> {
    const folders = new CaseFolders(await realpath(await mkdtemp(join(tmpdir(), 'scanfarm-case-'))), cases)
    const { output, temp, home, programs, calls, links } = folders
    for (const folder of [output, temp, home, programs, calls, links]) await mkdir(folder)
    return folders
  }

  /** Replaces the folders by placeholders. */
  readonly hide = (text: string): string =>
    this.#names.reduce((all, [value, placeholder]) => all.replaceAll(value, placeholder), text)

  /** Replaces placeholders by the folders. */
  readonly show = (text: string): string =>
    this.#names.reduce((all, [value, placeholder]) => all.replaceAll(placeholder, value), text)

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true })
  }
}
