import { createHash } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import { serverIsStopping } from '../../../domain/stopping.js'
import type { EventBus } from '../../../platform/bus/event-bus.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { createLeases } from '../../../platform/leases/leases.js'
import type { AdmittedPeer } from '../../../platform/streams/peer.js'
import { closeCodes } from '../../../platform/streams/sink.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { type ConnectionLimits, TunnelConnection } from './connection.js'
import { tunnelCodes } from './protocol.js'
import * as store from './store.js'
import { createWaits } from './waits.js'

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

/** The connections of this process, and the rules for opening one. */
export function createRegistry(
  deps: RegistryDeps,
  onReady: (connection: TunnelConnection) => void,
) {
  const { db, run, clock, timers, ids, bus, log, limits, leaseMs } = deps
  const open = new Map<string, TunnelConnection>()
  const waits = createWaits({ bus, timers })
  /** Connections by network address, with those that are still being admitted. */
  const slots = new Map<string, number>()
  let slotsInAll = 0
  let stopping = false

  const leases = createLeases<TunnelConnection>({
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
    lose: (connection) => connection.close(tunnelCodes.idConflict, 'tunnel id is used elsewhere'),
    fault: 'the leases of tunnels could not be prolonged',
  })

  function hint(topic: string, key: string): void {
    bus.publish({ topic, key })
  }

  function announce(tunnelId: string): void {
    hint(tunnelTopic, tunnelId)
  }

  function takeSlot(address: string): () => void {
    const own = slots.get(address) ?? 0
    if (slotsInAll >= limits.maxTunnels || own >= limits.perAddress) {
      const whose = own >= limits.perAddress ? 'Your network address has' : 'The server has'
      throw new ApiError('RateLimited', `${whose} as many open tunnels as it may have.`, {
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

  /** Throws if the workspace of a tunnel has as many others as it may have. */
  async function requireRoom(
    tx: Tx,
    { id, workspace_id: workspaceId }: store.TunnelRow,
    now: string,
  ): Promise<void> {
    if (workspaceId === null) return
    const others = await store.countOthersConnected(tx, { id, workspaceId }, now)
    if (others < limits.perWorkspace) return
    throw new ApiError(
      'RateLimited',
      `The workspace has ${limits.perWorkspace} open tunnels, which is as many as it may have. The operator can raise BOTSTEAD_MAX_TUNNELS_PER_WORKSPACE.`,
      { metadata: { retryAfterSeconds: 5 } },
    )
  }

  /** Makes a new connection that of the tunnel; throws if the id belongs to somebody else. */
  async function take({ id, key }: TunnelOpening, connection: string): Promise<void> {
    const keyHash = key === '' ? null : createHash('sha256').update(key).digest('hex')
    const deadline = clock.now() + contendMs
    for (;;) {
      const now = isoTime(clock.now())
      const taken = {
        connection,
        lease_until: leases.end(),
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
          'The tunnel with this id has a key, which stands before the id in the address: /tunnel/<key>/<id>.',
        )
      }
      if (!isConnected(row, clock.now()) || clock.now() >= deadline) {
        const patch = { ...taken, ...(keyHash !== null && { key_hash: keyHash }) }
        const isTaken = await run(async (tx) => {
          await requireRoom(tx, row, now)
          return await store.patchConnection(tx, row, patch)
        })
        if (isTaken) return
        continue
      }
      await contend(row, connection, deadline)
    }
  }

  /** Waits until a connection that has the id is gone; throws if it shows that it works. */
  async function contend(row: store.TunnelRow, contender: string, deadline: number): Promise<void> {
    if (!(await run((tx) => store.patchConnection(tx, row, { contender })))) return
    announce(row.id)
    while (clock.now() < deadline) {
      await waits.next({ topic: tunnelTopic, key: row.id }, 250)
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

  async function release(connection: { id: string; tunnelId: string }): Promise<void> {
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
    announce(connection.tunnelId)
  }

  function releaseSoon(connection: { id: string; tunnelId: string }): Promise<void> {
    return release(connection).catch((err: unknown) => {
      // Its lease expires.
      log.warn({ err, tunnel: connection.tunnelId }, 'the end of a tunnel could not be stored')
    })
  }

  const releasing = new Set<Promise<void>>()

  /** Another connection may want the id of one of this process, or have it already. */
  async function look(connection: TunnelConnection): Promise<void> {
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
      announce(row.id)
    }
  }

  function lookSoon(connection: TunnelConnection): void {
    look(connection).catch((err: unknown) => {
      log.warn({ err, tunnel: connection.tunnelId }, 'a tunnel could not be looked at')
    })
    onReady(connection)
  }

  async function endUnlessClaimed(connection: TunnelConnection): Promise<void> {
    const row = await store.findTunnel(db, connection.tunnelId)
    if (row?.connection === connection.id && row.workspace_id === null) {
      connection.close(tunnelCodes.invalidId, 'no bot or integration uses this tunnel')
    }
  }

  function drain(): void {
    stopping = true
    for (const connection of [...open.values()]) {
      connection.close(closeCodes.goingAway, 'the server stops')
    }
  }

  const stopListening = bus.subscribe(
    { topic: tunnelTopic },
    {
      onHint: ({ key }) => {
        const connection = open.get(key)
        if (connection !== undefined) lookSoon(connection)
      },
      onGap: () => {
        for (const connection of open.values()) lookSoon(connection)
      },
    },
  )

  return {
    waits,

    /** The open connection of a tunnel in this process. */
    find(tunnelId: string): TunnelConnection | undefined {
      return open.get(tunnelId)
    },

    announce,
    hint,

    async admit(opening: TunnelOpening): Promise<AdmittedPeer> {
      if (stopping) throw serverIsStopping()
      const freeSlot = takeSlot(opening.address)
      const id = ids.uuid()
      try {
        await take(opening, id)
      } catch (error) {
        freeSlot()
        throw error
      }
      const end = (): void => {
        freeSlot()
        const released = releaseSoon({ id, tunnelId: opening.id })
        releasing.add(released)
        void released.then(() => releasing.delete(released))
      }
      return {
        abandon: end,
        open(peer) {
          const cancel = timers.after(unclaimedMs, () => {
            endUnlessClaimed(connection).catch((err: unknown) => {
              log.warn({ err, tunnel: opening.id }, 'a tunnel could not be looked at')
            })
          })
          const connection = new TunnelConnection({
            id,
            tunnelId: opening.id,
            address: opening.address,
            peer,
            timers,
            limits,
            onClose: (closed) => {
              cancel()
              if (open.get(opening.id) === closed) open.delete(opening.id)
              end()
            },
          })
          // One that this process still has was asked for a sign of life, and gave none.
          open.get(opening.id)?.cut()
          open.set(opening.id, connection)
          announce(opening.id)
          return connection
        },
      }
    },

    start(): void {
      leases.start()
    },

    /** Ends all connections, so that developers connect to another process. */
    drain,

    async stop(timeLeft: number): Promise<void> {
      drain()
      stopListening()
      await leases.finish(timeLeft, Promise.all(releasing), () => {})
    },

    /** Counts the connections of this process. */
    count: () => open.size,
  }
}

export type Registry = ReturnType<typeof createRegistry>

/** Whether a tunnel has a connection whose process is alive. */
export function isConnected(row: store.TunnelRow, now: number): boolean {
  return row.connection !== null && row.lease_until !== null && row.lease_until > isoTime(now)
}
