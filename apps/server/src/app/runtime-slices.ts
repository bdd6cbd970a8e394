import type { Bots } from '../features/bots/bots/index.js'
import { builtInChat } from '../features/bots/installations/index.js'
import type { Makers } from '../features/calls/makers/index.js'
import { createConversations } from '../features/conversations/conversations/index.js'
import { createEvents } from '../features/conversations/events/index.js'
import { createMessages } from '../features/conversations/messages/index.js'
import { createChanges } from '../features/conversations/object-changes/index.js'
import { createObservations } from '../features/conversations/observations/index.js'
import { createRecurring } from '../features/conversations/recurring/index.js'
import { createStates } from '../features/conversations/states/index.js'
import { createTags } from '../features/conversations/tags/index.js'
import { createUsers } from '../features/conversations/users/index.js'
import { createWorkflows } from '../features/conversations/workflows/index.js'
import type { Feature } from '../features/feature.js'
import type { Tx } from '../platform/db/schema.js'
import type { Foundation } from './context.js'

/** What the runtime slices stand on. */
export type RuntimeFoundation = Pick<
  Foundation,
  'domainEvents' | 'db' | 'run' | 'dialect' | 'clock' | 'ids' | 'pager' | 'queue' | 'events'
> & {
  bots: Pick<Bots, 'audiences' | 'service'>
  makers: Makers
  /** Milliseconds before a bot got an address whose events are sent to it after all; 0 for none. */
  missedEventsMs: number
  /** Most bytes of the payload of a message, an event or a state. */
  maxPayloadBytes: number
}

/** Milliseconds that observations of bots are kept: 30 days. */
const observationRetentionMs = 30 * 24 * 60 * 60 * 1000

/** Builds the slices that bots and integrations work with. */
export function createRuntimeSlices(foundation: RuntimeFoundation) {
  const { domainEvents, db, run, dialect, clock, ids, pager, queue } = foundation
  const { makers, missedEventsMs, maxPayloadBytes } = foundation
  const { audiences } = foundation.bots

  const tags = createTags({ db, run, pager })
  const changes = createChanges({
    run,
    clock,
    ids,
    domainEvents,
  })
  const events = createEvents({
    db,
    run,
    clock,
    ids,
    queue,
    pager,
    audiences,
    domainEvents,
    missedEventsMs,
    maxPayloadBytes,
  })
  const users = createUsers({
    db,
    run,
    dialect,
    clock,
    ids,
    pager,
    audiences,
    makers,
    domainEvents,
    events: events.service,
  })
  const conversations = createConversations({
    db,
    run,
    dialect,
    clock,
    ids,
    pager,
    audiences,
    makers,
    domainEvents,
    changes,
    events: foundation.events,
    botEvents: events.service,
    users: users.service,
    chatAlias: builtInChat.alias,
  })
  const messages = createMessages({
    db,
    run,
    dialect,
    clock,
    ids,
    pager,
    queue,
    audiences,
    domainEvents,
    changes,
    events: foundation.events,
    botEvents: events.service,
    users: users.service,
    conversations: conversations.service,
    maxPayloadBytes,
  })
  const workflows = createWorkflows({
    db,
    run,
    dialect,
    clock,
    ids,
    pager,
    queue,
    audiences,
    domainEvents,
    events: events.service,
    users: users.service,
    conversations: conversations.service,
    maxPayloadBytes,
  })
  const states = createStates({
    db,
    run,
    dialect,
    clock,
    ids,
    queue,
    audiences,
    events: events.service,
    maxPayloadBytes,
  })
  const recurring = createRecurring({
    run,
    clock,
    queue,
    audiences,
    bots: foundation.bots.service,
    events: events.service,
    maxPayloadBytes,
  })
  const observations = createObservations({
    db,
    run,
    clock,
    ids,
    events: events.service,
    maxPayloadBytes,
    retentionMs: observationRetentionMs,
  })

  const features: readonly Feature[] = [
    tags,
    changes,
    events,
    users,
    conversations,
    messages,
    workflows,
    states,
    recurring,
    observations,
  ]
  for (const { on } of features) if (on) domainEvents.subscribe(on)

  return {
    users,
    conversations,
    messages,
    events,
    changes,
    recurring,
    observations,
    jobs: Object.assign({}, ...features.map(({ jobs }) => jobs)) as NonNullable<Feature['jobs']>,
    routes: features.flatMap(({ routes }) => routes ?? []),

    /** Deletes some of the rows that are old enough; returns how many. */
    async sweep(tx: Tx): Promise<number> {
      let count = 0
      for (const { sweeps = [] } of features) for (const sweep of sweeps) count += await sweep(tx)
      return count
    },

    /** Deletes what a deleted bot left behind; what others refer to goes last. */
    async purge(botId: string): Promise<void> {
      for (const { purge } of [...features].reverse()) await purge?.({ kind: 'bot', id: botId })
    },
  }
}
