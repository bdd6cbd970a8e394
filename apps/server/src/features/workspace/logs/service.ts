import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type LogPosition, positionOf, type WorkspaceLogLine } from '../../../domain/log-lines.js'
import { fieldError } from '../../../domain/refusals.js'
import { timeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'
import { type Buckets, bucketsOf, type CountedLogs, createCounts } from './counts.js'
import { createPrepare, type FilterDeps } from './filter.js'
import { endless, scanLines } from './scan.js'

type ListQuery = Query<typeof contract.logs.list>
type CountsQuery = Query<typeof contract.logs.counts>
export interface LogsDeps extends FilterDeps {
  db: Db
  clock: Clock
  pager: Pager
}

/** Lines of one page. */
export interface LogPage {
  lines: WorkspaceLogLine[]
  nextToken: string | undefined
  /** Time of the last line that was read; undefined on the last page. */
  readUntil: string | undefined
  /** Position of the newest line, or of the present. */
  position: LogPosition
}

/** Work for one page, in lines. */
const pageBudget = 20_000
const day = 24 * 60 * 60 * 1000
/** Before every time of a line. */
const beginning = '0000'

export type LogsService = ReturnType<typeof createLogsService>

/** The logs of all bots and integrations of a workspace, read as one. */
export function createLogsService(deps: LogsDeps) {
  const { db, clock, pager, readers } = deps
  const prepare = createPrepare(deps)
  const countLines = createCounts(db, readers)

  return {
    prepare,

    async list(actor: WorkspaceActor, query: ListQuery): Promise<LogPage> {
      const { nextToken, pageSize = 50, since, until, ...filter } = query
      const { selection, matches } = await prepare(actor, filter)
      const page = pager.page({
        operation: 'listLogs',
        scope: actor.workspaceId,
        filter: { ...filter, since, until },
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize,
      })
      const after = page.after && { time: String(page.after.value), id: page.after.id }
      const lines: WorkspaceLogLine[] = []
      const reached = await scanLines(db, readers, {
        selection,
        period: periodOf(since, until),
        after,
        budget: pageBudget,
        take: (line) => {
          if (matches(line)) lines.push(line)
          return lines.length <= page.size
        },
      })
      const isMore = lines.length > page.size
      if (isMore) lines.pop()
      const last = lines.at(-1)
      const end = isMore && last ? positionOf(last) : reached
      const [first] = lines
      return {
        lines,
        nextToken: end && page.tokenAfter({ value: end.time, id: end.id }),
        readUntil: end?.time,
        position: first ? positionOf(first) : { time: isoTime(clock.now()), id: '' },
      }
    },

    async counts(
      actor: WorkspaceActor,
      { since, until, buckets: max = 60, ...filter }: CountsQuery,
    ): Promise<CountedLogs & { buckets: Buckets }> {
      const prepared = await prepare(actor, filter)
      const to = timeOf('until', until, 'end') ?? isoTime(clock.now())
      const from = timeOf('since', since, 'beginning') ?? isoTime(Date.parse(to) - day)
      if (from > to) {
        throw fieldError('query.since', 'must not be after query.until.')
      }
      const buckets = bucketsOf(Date.parse(from), Date.parse(to) + 1, max)
      return { buckets, ...(await countLines(prepared, buckets)) }
    },
  }
}

/** Both ends of a range include their time, which has milliseconds. */
function periodOf(since: string | undefined, until: string | undefined): Period {
  const end = timeOf('until', until, 'end')
  return {
    since: timeOf('since', since, 'beginning') ?? beginning,
    before: end === undefined ? endless : isoTime(Date.parse(end) + 1),
  }
}
