import {
  allows,
  AppError,
  compileNeverScan,
  compileScope,
  ENFORCED,
  withoutPassword,
  type Boundary,
  type CompiledList,
  type CompiledScope,
  type Permission,
  type RefusedTarget,
} from '@scanfarm/contracts'
import type { Registry } from '@scanfarm/platform'
import type { Refused, ScopeBook, Store, TargetDraft } from '@scanfarm/store'
import { countRefusals } from '@scanfarm/worker'
import { wrongField } from '../http/refusal.ts'

/** Decides about the targets of one request. */
export interface Keeper {
  /** Of the request. */
  readonly scopeNo: number | undefined
  /**
   * The reason why a target of a workspace may not be scanned. Closed windows are none: its run waits. Undefined: there
   * is nothing to check.
   */
  readonly refusal: Refusing | undefined
  readonly permission: (target: string, workspace: () => string) => Permission
  /** What a worker must have for the targets that were asked about. */
  readonly needs: () => readonly string[]
}

/** Naming a workspace takes time, which most targets need not. */
export type Refusing = (target: string, workspace: () => string) => string | undefined

const NO_SCOPE = {
  allowed: false,
  cause: 'not_allowed',
  reason: 'neither the request nor the workspace has a scope, which the setting scope.required demands',
} satisfies Permission

/** The scopes and the never-scan list as the database has them. */
export class Scopes {
  readonly #store: Pick<Store['scopes'], 'book' | 'refuse' | 'isUnbound'>
  readonly #required: boolean
  readonly #refused: ReturnType<typeof countRefusals>
  #compiled: CompiledBook | undefined

  constructor(
    store: Pick<Store['scopes'], 'book' | 'refuse' | 'isUnbound'>,
    required: boolean,
    metrics: Registry,
  ) {
    this.#store = store
    this.#required = required
    this.#refused = countRefusals(metrics)
  }

  /** Throws if the request names a scope that does not exist. */
  async keeperOf(name: string | undefined, workflow: string): Promise<Keeper> {
    const book = await this.#current()
    const at = new Date()
    const named = name === undefined ? undefined : book.named(name)
    if (name !== undefined && named === undefined)
      throw wrongField('/scope', `there is no scope ${JSON.stringify(name)}`)
    const neverScan = book.neverScan(workflow, at)
    let isEnforced = false
    const permission = (target: string, workspace: () => string): Permission => {
      const boundary = book.boundary(named?.id, workspace, neverScan)
      isEnforced ||= boundary.scopes.some(({ rules }) => rules.enforcement === 'kernel')
      return boundary.scopes.length === 0 && this.#required ? NO_SCOPE : allows(boundary, target, at)
    }
    const refusal: Refusing = (target, workspace) => {
      const found = permission(target, workspace)
      return found.allowed || found.cause === 'closed' ? undefined : found.reason
    }
    const isFree = named === undefined && !this.#required && !book.hasWorkspaces && neverScan.notes.size === 0
    return {
      scopeNo: named?.id,
      refusal: isFree ? undefined : refusal,
      permission,
      needs: () => (isEnforced ? [ENFORCED] : []),
    }
  }

  /** Refuses a request of which no target is left, or of which all must be allowed, and records why. */
  async demand(
    { count, refused }: { readonly count: number; readonly refused?: Pick<Refused, 'count' | 'listed'> },
    strict = false,
  ): Promise<void> {
    const [first] = refused?.listed ?? []
    if (refused === undefined || first === undefined || (count > 0 && !strict)) return
    await this.#store.refuse({ ...refused, place: 'submit' })
    this.count(refused.count, 'submit')
    const more = refused.count > 1 ? ` (and ${refused.count - 1} more)` : ''
    throw new AppError('target_refused', `${first.target}: ${first.reason}${more}`, {
      details: refused.listed
        .slice(0, MAX_DETAILS)
        .map(({ target, reason }) => ({ path: '', message: `${target}: ${reason}` })),
    })
  }

  /** Refuses to repeat or start runs of a job, or one in a workspace, that need a scope and have none. */
  async demandScope(jobId: string, workspace?: string): Promise<void> {
    if (this.#required && (await this.#store.isUnbound(jobId, workspace)))
      throw new AppError('target_refused', NO_SCOPE.reason)
  }

  count(targets: number, place: 'submit' | 'trigger'): void {
    if (targets > 0) this.#refused(place, targets)
  }

  async #current(): Promise<CompiledBook> {
    const changed = await this.#store.book(this.#compiled?.version)
    return changed === undefined && this.#compiled !== undefined
      ? this.#compiled
      : (this.#compiled = new CompiledBook(changed ?? EMPTY))
  }
}

const MAX_DETAILS = 50
const EMPTY: ScopeBook = { version: 0, scopes: [], workspaces: {}, neverScan: [] }

/** One version of the book. What a request needs is compiled on its first use. */
class CompiledBook {
  readonly version: number
  readonly #book: ScopeBook
  readonly #byId: ReadonlyMap<number, ScopeBook['scopes'][number]>
  readonly #workspaces: ReadonlyMap<string, number>
  readonly #scopes = new Map<number, CompiledScope>()
  readonly #lists = new Map<string, { readonly list: CompiledList; readonly until: number }>()

  constructor(book: ScopeBook) {
    this.version = book.version
    this.#book = book
    this.#byId = new Map(book.scopes.map((scope) => [scope.id, scope]))
    this.#workspaces = new Map(Object.entries(book.workspaces))
  }

  named(name: string): { readonly id: number } | undefined {
    return this.#book.scopes.find((scope) => scope.name.toLowerCase() === name.toLowerCase())
  }

  get hasWorkspaces(): boolean {
    return this.#workspaces.size > 0
  }

  boundary(id: number | undefined, workspace: () => string, neverScan: CompiledList): Boundary {
    const bound = this.hasWorkspaces ? this.#workspaces.get(workspace()) : undefined
    const ids = new Set([id, bound].filter((one) => one !== undefined))
    return { scopes: [...ids].flatMap((one) => this.#scope(one)), neverScan }
  }

  /** Entries end in time, without a change of the book. */
  neverScan(workflow: string, at: Date): CompiledList {
    const known = this.#lists.get(workflow)
    if (known !== undefined && at.getTime() < known.until) return known.list
    const rules = this.#book.neverScan.filter(
      (rule) =>
        (rule.workflow === '' || rule.workflow === workflow) &&
        (rule.until === null || new Date(rule.until) > at),
    )
    const ends = rules.flatMap(({ until }) => (until === null ? [] : [new Date(until).getTime()]))
    const list = compileNeverScan(rules)
    this.#lists.set(workflow, { list, until: ends.reduce((a, b) => Math.min(a, b), Infinity) })
    return list
  }

  #scope(id: number): CompiledScope[] {
    const rules = this.#byId.get(id)
    const known = this.#scopes.get(id) ?? (rules && compileScope(rules))
    if (known === undefined) return []
    this.#scopes.set(id, known)
    return [known]
  }
}

/** The targets that may be scanned, and the others with their reasons. */
export const separate = (
  drafts: readonly TargetDraft[],
  { refusal }: Pick<Keeper, 'refusal'>,
): { readonly kept: readonly TargetDraft[]; readonly refused: readonly RefusedTarget[] } => {
  const kept: TargetDraft[] = []
  const refused: RefusedTarget[] = []
  for (const draft of drafts) {
    const reason = refusal?.(draft.target, () => draft.workspace)
    if (reason === undefined) kept.push(draft)
    else refused.push({ target: withoutPassword(draft.target), reason })
  }
  return { kept, refused }
}
