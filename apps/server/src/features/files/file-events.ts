import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit } from '../../platform/db/after-commit.js'
import type { Tx } from '../../platform/db/schema.js'
import { appendNextEvent } from '../../platform/events/append.js'
import { announceEvents } from '../../platform/events/hints.js'
import { eventStream, type FileEvent, type FileEventData } from './event-log.js'
import { announceFile } from './hints.js'
import type { FileRow } from './table.js'

/** Writes down what happened to a file, in the transaction of the change. */
export function createTeller({ clock, bus }: { clock: Clock; bus: EventBus }) {
  return async function tell(
    tx: Tx,
    type: FileEvent,
    file: FileRow,
    generation: number,
  ): Promise<void> {
    const stream = eventStream(file.bot_id)
    const data: FileEventData = { key: file.key, generation }
    const sequence = await appendNextEvent(tx, {
      stream,
      botId: file.bot_id,
      type,
      subjectId: file.id,
      data,
      createdAt: isoTime(clock.now()),
    })
    afterCommit(tx, () => {
      announceEvents(bus, stream, sequence)
      announceFile(bus, file.id)
    })
  }
}
