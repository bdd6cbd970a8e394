import { createHash } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import { serverIsStopping } from '../../../domain/stopping.js'
import type { EventBus } from '../../../platform/bus/event-bus.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { createLeases, type Leases } from '../../../platform/leases/leases.js'
import type { AdmittedPeer, Peer } from '../../../platform/streams/peer.js'
import { closeCodes } from '../../../platform/streams/sink.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { type ConnectionLimits, TunnelConnection } from './connection.js'
import { tunnelCodes } from './protocol.js'
import * as store from './store.js'
import { createWaits, type Waits } from './waits.js'

/** Limits of tunnels; sizes in bytes, times in milliseconds. */
export interface TunnelLimits extends ConnectionLimits {
  maxTunnels: number
  perAddress: number
  perWorkspace: number
  reconnectMs: number
}

export interface RegistryDeps {
  db: Db
  run: Run
  clock: Clock
  timers: Timers
  ids: Ids
  bus: EventBus
  log: Log
  limits: TunnelLimits
  /** Milliseconds after which the connections of a process that died count as closed. */
  leaseMs: number
}

/** A request to open a tunnel. */
export interface TunnelOpening {
  id: string
  /** The key in the address; empty without one. */
  key: string
  /** Network address. */
  address: string
}

/** Topic of hints that a tunnel changed, or that calls wait for it; the key is its id. */
export const tunnelTopic = 'tunnels'

/** Milliseconds that an open connection has to show that it works when another one wants its id. */
const probeMs = 3000
/** Milliseconds for which the other one waits: the process that holds the first may be slow. */
const contendMs = 8000
/** Milliseconds that a tunnel may be open before a bot or an integration uses its address. */
const unclaimedMs = 15 * 60_000

/** The free places for connections of this process, in all and by network address. */
function createSlots(limits: Pick<TunnelLimits, 'maxTunnels' | 'perAddress'>) {
  /** Connections by network address, with those that are still being admitted. */
  const slots = new Map<string, number>()
  let slotsInAll = 0

  /** Takes a place. @returns a function that frees it */
  return function take(address: string): () => void {
    const own = slots.get(address) ?? 0
    if (slotsInAll >= limits.maxTunnels || own >= limits.perAddress) {
      const whose = own >= limits.perAddress ? 'Your network address has' : 'The server has'
      throw new ApiError('RateLimited', `${whose} the maximum number of open tunnels.`, {
        metadata: { retryAfterSeconds: 5 },
      })
    }
    slots.set(address, own + 1)
    slotsInAll += 1
    return () => {
      const left = (slots.get(address) ?? 1) - 1
      if (left === 0) slots.delete(address)
      else slots.set(address, left)
      slotsInAll -= 1
    }
  }
}

/** The connections of this process, and the rules for opening one. */
export class Registry {
  readonly waits: Waits
  readonly #deps: RegistryDeps
  readonly #onReady: (connection: TunnelConnection) => void
  readonly #open = new Map<string, TunnelConnection>()
  readonly #takeSlot: ReturnType<typeof createSlots>
  readonly #leases: Leases
  readonly #releasing = new Set<Promise<void>>()
  readonly #stopListening: () => void
  #stopping = false

  /** @param onReady called with a connection whenever calls may wait for its tunnel */
  constructor(deps: RegistryDeps, onReady: (connection: TunnelConnection) => void) {
    this.#deps = deps
    this.#onReady = onReady
    this.waits = createWaits(deps)
    this.#takeSlot = createSlots(deps.limits)
    this.#leases = leasesOf(deps, this.#open, (connection) => this.#lookSoon(connection))
    this.#stopListening = deps.bus.subscribe(
      { topic: tunnelTopic },
      {
        onHint: ({ key }) => {
          const connection = this.#open.get(key)
          if (connection !== undefined) this.#lookSoon(connection)
        },
        onGap: () => {
          for (const connection of this.#open.values()) this.#lookSoon(connection)
        },
      },
    )
  }

  /** The open connection of a tunnel in this process. */
  find(tunnelId: string): TunnelConnection | undefined {
    return this.#open.get(tunnelId)
  }

  /** Counts the connections of this process. */
  count(): number {
    return this.#open.size
  }

  hint(topic: string, key: string): void {
    this.#deps.bus.publish({ topic, key })
  }

  /** Hints that a tunnel changed, or that calls wait for it. */
  announce(tunnelId: string): void {
    this.hint(tunnelTopic, tunnelId)
  }

  async admit(opening: TunnelOpening): Promise<AdmittedPeer> {
    if (this.#stopping) throw serverIsStopping()
    const freeSlot = this.#takeSlot(opening.address)
    const id = this.#deps.ids.uuid()
    try {
      await this.#take(opening, id)
    } catch (error) {
      freeSlot()
      throw error
    }
    const end = (): void => {
      freeSlot()
      const released = this.#releaseSoon({ id, tunnelId: opening.id })
      this.#releasing.add(released)
      void released.then(() => this.#releasing.delete(released))
    }
    return { abandon: end, open: (peer) => this.#connect(opening, id, peer, end) }
  }

  start(): void {
    this.#leases.start()
  }

  /** Ends all connections, so that developers connect to another process. */
  drain(): void {
    this.#stopping = true
    for (const connection of [...this.#open.values()]) {
      connection.close(closeCodes.goingAway, 'the server stops')
    }
  }

  async stop(timeLeft: number): Promise<void> {
    this.drain()
    this.#stopListening()
    await this.#leases.finish(timeLeft, Promise.all(this.#releasing), () => {})
  }

  /** Puts an admitted connection into use. @param end called when it is closed */
  #connect(
    { id: tunnelId, address }: TunnelOpening,
    id: string,
    peer: Peer,
    end: () => void,
  ): TunnelConnection {
    const { timers, limits, log } = this.#deps
    const cancel = timers.after(unclaimedMs, () => {
      this.#endUnlessClaimed(connection).catch((err: unknown) => {
        log.warn({ err, tunnel: tunnelId }, 'a tunnel could not be looked at')
      })
    })
    const connection = new TunnelConnection({
      id,
      tunnelId,
      address,
      peer,
      timers,
      limits,
      onClose: (closed) => {
        cancel()
        if (this.#open.get(tunnelId) === closed) this.#open.delete(tunnelId)
        end()
      },
    })
    // One that this process still has was asked for a sign of life, and gave none.
    this.#open.get(tunnelId)?.cut()
    this.#open.set(tunnelId, connection)
    this.announce(tunnelId)
    return connection
  }

  /** Makes a new connection that of the tunnel; throws if the id belongs to somebody else. */
  async #take({ id, key }: TunnelOpening, connection: string): Promise<void> {
    const { db, run, clock, limits } = this.#deps
    const keyHash = key === '' ? null : createHash('sha256').update(key).digest('hex')
    const deadline = clock.now() + contendMs
    for (;;) {
      const now = isoTime(clock.now())
      const taken = {
        connection,
        lease_until: this.#leases.end(),
        contender: null,
        connected_at: now,
        disconnected_at: null,
      }
      const row = await store.findTunnel(db, id)
      if (row === undefined) {
        const made = { id, key_hash: keyHash, workspace_id: null, ...taken }
        if (await run((tx) => store.insertTunnel(tx, made))) return
        continue
      }
      if (row.key_hash !== null && row.key_hash !== keyHash) {
        throw new ApiError(
          'Forbidden',
          'The tunnel with this id has a key, which must precede the id in the address: /tunnel/<key>/<id>.',
        )
      }
      if (!isConnected(row, clock.now()) || clock.now() >= deadline) {
        const patch = { ...taken, ...(keyHash !== null && { key_hash: keyHash }) }
        const isTaken = await run(async (tx) => {
          await requireRoom(tx, limits, row, now)
          return await store.patchConnection(tx, row, patch)
        })
        if (isTaken) return
        continue
      }
      await this.#contend(row, connection, deadline)
    }
  }

  /** Waits until a connection that has the id is gone; throws if it shows that it works. */
  async #contend(row: store.TunnelRow, contender: string, deadline: number): Promise<void> {
    const { db, run, clock } = this.#deps
    if (!(await run((tx) => store.patchConnection(tx, row, { contender })))) return
    this.announce(row.id)
    while (clock.now() < deadline) {
      await this.waits.next({ topic: tunnelTopic, key: row.id }, 250)
      const current = await store.findTunnel(db, row.id)
      if (current?.connection !== row.connection) return
      if (current.contender === contender) {
        if (!isConnected(current, clock.now())) return
        continue
      }
      throw new ApiError(
        'ResourceLockedConflict',
        'Another connection has a tunnel with this id, and it works.',
      )
    }
  }

  async #release(connection: { id: string; tunnelId: string }): Promise<void> {
    const { run, clock } = this.#deps
    await run(async (tx) => {
      await store.deleteUnclaimed(tx, connection.tunnelId, connection.id)
      await store.patchConnection(
        tx,
        { id: connection.tunnelId, connection: connection.id },
        {
          connection: null,
          lease_until: null,
          contender: null,
          disconnected_at: isoTime(clock.now()),
        },
      )
    })
    this.announce(connection.tunnelId)
  }

  #releaseSoon(connection: { id: string; tunnelId: string }): Promise<void> {
    return this.#release(connection).catch((err: unknown) => {
      // Its lease expires.
      this.#deps.log.warn(
        { err, tunnel: connection.tunnelId },
        'the end of a tunnel could not be stored',
      )
    })
  }

  /** Another connection may want the id of one of this process, or have it already. */
  async #look(connection: TunnelConnection): Promise<void> {
    const { db, run } = this.#deps
    const row = await store.findTunnel(db, connection.tunnelId)
    if (row === undefined) {
      connection.close(tunnelCodes.invalidId, 'the workspace of this tunnel was deleted')
    } else if (row.connection !== connection.id) {
      connection.close(tunnelCodes.idConflict, 'tunnel id is used elsewhere')
    } else if (row.contender !== null) {
      const works = await connection.probe(probeMs)
      if (!works) {
        connection.cut()
        return
      }
      await run((tx) => store.patchConnection(tx, row, { contender: null }))
      this.announce(row.id)
    }
  }

  #lookSoon(connection: TunnelConnection): void {
    this.#look(connection).catch((err: unknown) => {
      this.#deps.log.warn({ err, tunnel: connection.tunnelId }, 'a tunnel could not be looked at')
    })
    this.#onReady(connection)
  }

  async #endUnlessClaimed(connection: TunnelConnection): Promise<void> {
    const row = await store.findTunnel(this.#deps.db, connection.tunnelId)
    if (row?.connection === connection.id && row.workspace_id === null) {
      connection.close(tunnelCodes.invalidId, 'no bot or integration uses this tunnel')
    }
  }
}

/** The leases of the open connections of this process. @param lose finds out why a connection lost its tunnel, and closes it */
function leasesOf(
  { clock, timers, log, leaseMs, run }: RegistryDeps,
  open: ReadonlyMap<string, TunnelConnection>,
  lose: (connection: TunnelConnection) => void,
): Leases {
  return createLeases<TunnelConnection>({
    clock,
    timers,
    log,
    leaseMs,
    held: () => [...open.values()],
    async prolong(held, until) {
      const connections = held.map(({ id }) => id)
      const kept = await run(async (tx) => {
        await store.prolongConnections(tx, connections, until)
        return await store.listConnected(tx, connections)
      })
      const stillHeld = new Set(kept.map(({ connection }) => connection))
      return ({ id }) => stillHeld.has(id)
    },
    lose,
    fault: 'the leases of tunnels could not be prolonged',
  })
}

/** Throws if the workspace of a tunnel has as many others as it may have. */
async function requireRoom(
  tx: Tx,
  { perWorkspace }: TunnelLimits,
  { id, workspace_id: workspaceId }: store.TunnelRow,
  now: string,
): Promise<void> {
  if (workspaceId === null) return
  const others = await store.countOthersConnected(tx, { id, workspaceId }, now)
  if (others < perWorkspace) return
  throw new ApiError(
    'RateLimited',
    `The workspace has ${perWorkspace} open tunnels, the maximum. The operator can raise BOTSTEAD_MAX_TUNNELS_PER_WORKSPACE.`,
    { metadata: { retryAfterSeconds: 5 } },
  )
}

/** Whether a tunnel has a connection whose process is alive. */
export function isConnected(row: store.TunnelRow, now: number): boolean {
  return row.connection !== null && row.lease_until !== null && row.lease_until > isoTime(now)
}
