import type { Clock, Timers } from '../../platform/clock.js'
import type { Run } from '../../platform/db/schema.js'
import { createRateLimiter, type RateLimiter } from '../../platform/security/rate-limit.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { Deployment, HostedCode } from '../bots/deployments/index.js'
import type { IntegrationLogs } from '../bots/integrations/index.js'
import type { IssuesService } from '../bots/issues/index.js'
import type { BotLogsService } from '../bots/logs/index.js'
import { createIssueReports, droppedLinesIssueOf } from './code-issues.js'
import {
  type CodeIssue,
  createLineSink,
  type LineSink,
  type OutputLine,
  type OutputListener,
} from './output.js'
import { keyOf } from './owners.js'

export interface CodeOutputDeps {
  run: Run
  clock: Clock
  timers: Timers
  log: Log
  /** Maximum number of lines that one owner writes in a minute. */
  linesPerMinute: number
  integrationLogs: Pick<IntegrationLogs, 'writeLines'>
  botLogs: Pick<BotLogsService, 'writeLines'>
  issues: Pick<IssuesService, 'report' | 'reportByIntegration'>
}

/** Maximum number of issues that one program reports in a minute. */
export const issuesPerMinute = 1000

/** Stores the lines and issues of deployed code, by its owner. */
export class CodeOutput {
  readonly #deps: CodeOutputDeps
  readonly #sinks = new Map<string, LineSink>()
  readonly #report: ReturnType<typeof createIssueReports>
  /** The host program has the same limit, which code can pass that writes to its connections itself. */
  readonly #issueRate: RateLimiter

  constructor(deps: CodeOutputDeps) {
    this.#deps = deps
    this.#report = createIssueReports(deps.issues)
    this.#issueRate = createRateLimiter({
      perMinute: issuesPerMinute,
      burst: issuesPerMinute,
      clock: deps.clock,
    })
  }

  /** The listener for a program. */
  listenerOf(hosted: HostedCode): OutputListener {
    return {
      onLine: (line) => this.#sinkOf(hosted).add(line),
      onIssue: (issue) => {
        if (this.#issueRate.take(keyOf(hosted.owner)).allowed) this.reportIssue(hosted, issue)
      },
      onDropped: (lines) => this.#sinkOf(hosted).addDropped(lines),
    }
  }

  /** Writes a line of the server into the log of an owner. */
  writeLine(deployment: Deployment, line: OutputLine): void {
    this.#sinkOf(deployment).addOwn(line)
  }

  reportIssue({ owner }: Pick<Deployment, 'owner'>, issue: CodeIssue): void {
    this.#report(owner, issue).catch((err: unknown) =>
      this.#deps.log.warn({ err, owner }, 'an issue of deployed code could not be reported'),
    )
  }

  /** Resolves when all lines are stored. */
  async flush(): Promise<void> {
    for (const sink of this.#sinks.values()) await sink.flush()
  }

  #sinkOf({ owner }: Deployment): LineSink {
    const key = keyOf(owner)
    const known = this.#sinks.get(key)
    if (known) return known
    const { run, clock, timers, log, linesPerMinute, botLogs, integrationLogs } = this.#deps
    const sink = createLineSink({
      clock,
      timers,
      log,
      perMinute: linesPerMinute,
      onDropped: (lines) => this.reportIssue({ owner }, droppedLinesIssueOf(lines, linesPerMinute)),
      store: async (lines) =>
        owner.type === 'bot'
          ? run((tx) => botLogs.writeLines(tx, owner.id, lines))
          : run((tx) => integrationLogs.writeLines(tx, owner.id, lines)),
    })
    this.#sinks.set(key, sink)
    return sink
  }
}
