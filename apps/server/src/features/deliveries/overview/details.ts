import { type contract, maxListedAttempts, type Output } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import type { BotsService } from '../../bots/bots/index.js'
import { shownHeadersOf, signedPrefixOf } from '../../calls/requests/index.js'
import type { Target, Targets } from '../../calls/targets/index.js'
import { type AttemptRow, listRecentAttempts } from '../attempt-store.js'
import type { BuildBodies } from '../bodies.js'
import { findAnyDelivery } from '../history-store.js'
import { findEventTypes } from '../listing-store.js'
import { listReceivers, type ReceiverRow } from '../receiver-store.js'
import { type DeliveryRow, receiverIn } from '../store.js'
import { toDelivery } from '../view.js'
import { createSentBodies, type SentBodies } from './sent-bodies.js'

export interface DetailsDeps {
  db: Db
  clock: Clock
  bots: Pick<BotsService, 'isIn'>
  targets: Pick<Targets, 'of'>
  buildBodies: BuildBodies
}

type WireDetails = Output<typeof contract.workspaceDeliveries.get>['delivery']
type WireAttempt = WireDetails['attemptLog'][number]

/** Makes the function that returns a delivery with the request and the response of each attempt. */
export function createDetails({ db, clock, bots, targets, buildBodies }: DetailsDeps) {
  return async (actor: WorkspaceActor, id: string): Promise<WireDetails> => {
    const row = await findAnyDelivery(db, id)
    if (row === undefined || !(await bots.isIn(actor, row.bot_id))) {
      throw notFound('delivery', id, 'in this workspace')
    }
    const attempts = await listRecentAttempts(db, row, maxListedAttempts)
    const [built] = await buildBodies([row])
    const target = await targets.of(receiverIn(row))
    const receivers = await listReceivers(db, [row.bot_id])
    const receiver = receivers.find(({ integration }) => integration === row.integration)
    const eventType = (await findEventTypes(db, [row])).get(row.subject_id)
    const bodies = built && createSentBodies(row, built.body, target?.secrets ?? [])
    const next = nextOf(row, receiver, isoTime(clock.now()))
    return {
      ...toDelivery(row),
      botId: row.bot_id,
      ...(eventType !== undefined && { eventType }),
      ...(bodies && { body: bodies.current }),
      attemptLog: attempts.map((attempt) =>
        toAttemptDetails(row, attempt, { type: built?.type ?? row.kind, bodies, target }),
      ),
      ...(next && { next }),
    }
  }
}

function toAttemptDetails(
  { id, kind }: DeliveryRow,
  attempt: AttemptRow,
  given: { type: string; bodies: SentBodies | undefined; target: Target | undefined },
): WireAttempt {
  const { type, bodies, target } = given
  const { number, status, url, signature, error } = attempt
  const sent = signature === null ? undefined : bodies?.find(signature)
  const headers = shownHeadersOf(
    target ?? { at: { url: '' }, headers: {}, secrets: [], timeoutMs: 0 },
    {
      operation: kind,
      type,
      headers: { 'x-botstead-delivery': id, 'x-botstead-attempt': String(number) },
    },
    signature ?? undefined,
  )
  return {
    number,
    startedAt: attempt.started_at,
    durationMs: attempt.duration_ms,
    request: {
      method: 'POST',
      ...(url !== null && { url }),
      headers,
      ...(signature !== null && {
        signature: { value: signature, signedPrefix: signedPrefixOf(signature) },
      }),
      bodyIs: bodies === undefined ? 'gone' : sent === undefined ? 'current' : 'sent',
      ...(sent !== undefined && sent !== bodies?.current && { body: sent }),
    },
    ...(status !== null && {
      response: {
        status,
        headers:
          attempt.response_headers === null
            ? {}
            : decodeJson<Record<string, string>>(attempt.response_headers),
        body: attempt.answer ?? '',
      },
    }),
    ...(error !== null && { error }),
  }
}

/** The next step of a pending delivery, or the reason for which it waits. */
function nextOf(
  { status, owner, next_attempt_at: at, set_aside: parked }: DeliveryRow,
  receiver: ReceiverRow | undefined,
  now: string,
): WireDetails['next'] {
  if (status !== 'pending') return undefined
  if (owner !== null) return { waitsFor: 'response' }
  if (parked === 1 || (receiver?.paused ?? null) !== null) {
    const ping = receiver?.probe_at ?? null
    return { waitsFor: 'receiver', ...(ping !== null && { at: ping }) }
  }
  if (at === null) return { waitsFor: 'turn' }
  return { waitsFor: at > now ? 'retry' : 'worker', at }
}
