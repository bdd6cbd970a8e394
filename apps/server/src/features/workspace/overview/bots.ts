import type { contract, Output } from '@botstead/contract'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { BotReachRow } from '../../bots/bots/index.js'
import type { InstallationStateRow } from '../../bots/installations/index.js'
import type { ReceiverState } from '../../deliveries/index.js'

/** Whether a bot works. */
export type BotHealth = Output<typeof contract.overview.get>['bots'][number]
type Reason = BotHealth['reasons'][number]

/** A number of rows, and the newest one. */
interface Some {
  count: number
  newestId: string
}

/** The facts about one bot. */
export interface BotFacts {
  bot: BotReachRow
  receivers: readonly ReceiverState[]
  installations: readonly InstallationStateRow[]
  /** ISO 8601 time of its newest message of the last day. */
  lastMessageAt: string | undefined
  failedDeliveries: Some | undefined
  failedFiles: Some | undefined
  errorLines: Some | undefined
  /** Failures before a later attempt of the same receiver succeeded. */
  past: Pick<BotFacts, 'failedDeliveries' | 'errorLines'>
  /** Aliases of installations whose code is deployed here. */
  hosted: ReadonlySet<string>
  /** The reason for which a program at a URL does not respond now; undefined if it does, or was not asked. */
  unreachable: string | undefined
}

/** Determines whether a bot works, and if not, why and what to do. */
export function healthOf(facts: BotFacts): BotHealth {
  const { id, name } = facts.bot
  const urgent = [
    ...facts.receivers.flatMap((receiver) => ofReceiver(receiver, facts)),
    ...facts.installations.flatMap((installation) => ofInstallation(installation)),
    ...ofCounts(facts.bot.id, facts),
  ]
  const past = ofCounts(facts.bot.id, { ...facts.past, failedFiles: undefined })
  const isKnown = urgent.some(({ kind, target }) => target.type === 'bot' && isOfReceiver(kind))
  if (facts.unreachable !== undefined && !isKnown) {
    urgent.unshift({
      kind: 'receiver_failing',
      message: `The bot does not respond. ${facts.unreachable}`,
      action: actionFor(facts.bot),
      target: { type: 'bot', id },
    })
  }
  const [unreachable, isMissed] = ofAddress(facts)
  if (urgent.length > 0 || isMissed) {
    return { id, name, status: 'attention', reasons: [...urgent, ...unreachable], past }
  }
  return { id, name, status: unreachable.length > 0 ? 'off' : 'ok', reasons: unreachable, past }
}

function isOfReceiver(kind: Reason['kind']): boolean {
  return kind === 'receiver_paused' || kind === 'receiver_failing'
}

/** Reasons for which the bot is not called at all, and whether somebody waits for it. */
function ofAddress({ bot, lastMessageAt }: BotFacts): [Reason[], boolean] {
  const target = { type: 'bot' as const, id: bot.id }
  const isMissed = lastMessageAt !== undefined
  const since = isMissed ? { since: lastMessageAt } : {}
  if (decodeBoolean(bot.blocked)) {
    const message = 'The bot is blocked: it is not called.'
    const action = 'Set blocked to false to call it again.'
    return [[{ kind: 'blocked', message, action, target }], false]
  }
  if (bot.url !== null || bot.deployment_id !== null) return [[], false]
  const message = isMissed
    ? 'There are messages of the last day, but the bot has no address to be called at.'
    : 'The bot has no address to be called at.'
  const action = 'Set its url to the address of its program, or deploy its code.'
  return [[{ kind: 'no_address', message, action, ...since, target }], isMissed]
}

/** The advice for deployed code that does not respond. */
const adviceOnCode =
  'Look at its log and its issues, correct the code and deploy it again: deliveries continue when it responds to a ping.'

/** The advice for a bot that does not respond. */
function actionFor({ url, deployment_id }: BotReachRow): string {
  if (url !== null) {
    return 'Start the program of the bot, or correct its url: deliveries continue when it responds to a ping.'
  }
  return deployment_id === null
    ? 'Set its url to the address of its program, or deploy its code.'
    : adviceOnCode
}

function ofReceiver(receiver: ReceiverState, { bot, hosted }: BotFacts): Reason[] {
  const {
    bot_id: botId,
    integration,
    failures,
    failing_since,
    paused,
    paused_at,
    reason,
  } = receiver
  const name = integration === '' ? 'the bot' : integration
  const target =
    integration === ''
      ? { type: 'bot' as const, id: botId }
      : { type: 'installation' as const, id: integration, botId }
  const because = reason === null ? '' : ` ${reason}`
  if (paused === 'operator') {
    return [
      {
        kind: 'receiver_paused',
        message: `Deliveries to ${name} were paused by hand.`,
        action:
          integration === ''
            ? `Resume them, for example with "npx botstead deliveries resume --bot ${botId}".`
            : 'Resume them.',
        ...(paused_at !== null && { since: paused_at }),
        target,
      },
    ]
  }
  const action =
    integration === ''
      ? actionFor(bot)
      : hosted.has(integration)
        ? adviceOnCode
        : `Start the program of ${name}, or correct its address: deliveries continue when it responds to a ping.`
  if (paused === 'failures') {
    return [
      {
        kind: 'receiver_paused',
        message: `Deliveries to ${name} are paused, because it does not work.${because}`,
        action,
        ...(paused_at !== null && { since: paused_at }),
        target,
      },
    ]
  }
  if (failures === 0) return []
  return [
    {
      kind: 'receiver_failing',
      message: `The last ${failures === 1 ? 'call' : `${failures} calls`} of ${name} failed.${because}`,
      action,
      ...(failing_since !== null && { since: failing_since }),
      target,
    },
  ]
}

function ofInstallation(row: InstallationStateRow): Reason[] {
  const { bot_id: botId, alias, name, status, status_reason: reason, updated_at: since } = row
  if (status !== 'registration_failed' && status !== 'unregistration_failed') return []
  const operation = status === 'registration_failed' ? 'registration' : 'unregistration'
  return [
    {
      kind: 'registration_failed',
      message: `The ${operation} of ${name} (${alias}) failed.${reason === null ? '' : ` ${reason}`}`,
      action: 'Correct its configuration or its program, then install it again.',
      since,
      target: { type: 'installation', id: alias, botId },
    },
  ]
}

function ofCounts(
  botId: string,
  {
    failedDeliveries,
    failedFiles,
    errorLines,
  }: Pick<BotFacts, 'failedDeliveries' | 'failedFiles' | 'errorLines'>,
): Reason[] {
  const reasons: Reason[] = []
  if (failedDeliveries !== undefined) {
    reasons.push({
      kind: 'deliveries_failed',
      message: `${many(failedDeliveries.count, 'delivery', 'deliveries')} of the last day failed.`,
      action: `Look at the response, correct the program, and replay ${failedDeliveries.count === 1 ? 'it' : 'them'}.`,
      target: { type: 'delivery', id: failedDeliveries.newestId, botId },
    })
  }
  if (failedFiles !== undefined) {
    reasons.push({
      kind: 'files_failed',
      message: `${many(failedFiles.count, 'file', 'files')} could not be stored or indexed.`,
      action: 'Look at the reason of each, then upload or index it again, or delete it.',
      target: { type: 'file', id: failedFiles.newestId, botId },
    })
  }
  if (errorLines !== undefined) {
    reasons.push({
      kind: 'log_errors',
      message: `There ${errorLines.count === 1 ? 'is' : 'are'} ${many(errorLines.count, 'error', 'errors')} of the last day in its logs.`,
      action: 'Look at the logs.',
      target: { type: 'log', id: errorLines.newestId, botId },
    })
  }
  return reasons
}

function many(count: number, one: string, more: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${more}`
}
