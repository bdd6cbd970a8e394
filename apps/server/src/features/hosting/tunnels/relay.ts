import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { OutgoingError, type OutgoingFailure } from '../../../platform/outgoing/outgoing.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import * as calls from './call-store.js'
import { ConnectionLimitError, ConnectionLostError, type TunnelConnection } from './connection.js'
import type { TunnelRequest, TunnelResponse } from './protocol.js'
import { isConnected, type Registry, tunnelTopic } from './registry.js'
import { findTunnel, type TunnelRow } from './store.js'

export interface RelayDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  sealer: Sealer
  log: Log
  limits: { requests: number; reconnectMs: number }
}

interface RelayParts extends RelayDeps {
  /** The connections of this process. */
  registry: () => Registry
}

/** A call through a tunnel, with what the relay has to know of it. */
interface TunnelCall {
  request: TunnelRequest
  /** Whether it may be sent again if the connection breaks before the response. */
  repeatable: boolean
  /** Milliseconds since the Unix epoch. */
  deadline: number
  /** Aborts at the deadline, with an `OutgoingError`, or earlier. */
  signal: AbortSignal
}

/** The outcome of a call that another process sent. */
type Result = { response: TunnelResponse } | { failure: OutgoingFailure; message: string }

/** Topic of hints that a call has ended; the key is its id. */
const callTopic = 'tunnel-calls'
/** Milliseconds between two looks at a call that another process sends, if no hint arrives. */
const lookMs = 500
/** Calls that a process takes at a time when a tunnel connects. */
const takenAtOnce = 20

const away = () =>
  new OutgoingError(
    'connection',
    'The development tunnel is not connected: bp dev does not run, or cannot reach this server.',
  )
const broken = () =>
  new OutgoingError(
    'connection',
    'The connection of the development tunnel broke before there was a response.',
  )

/**
 * Sends calls through tunnels: directly where this process has the connection, and otherwise as rows that the
 * process which has it, or gets it, sends.
 */
export function createRelay(deps: RelayDeps, registry: () => Registry) {
  const parts = { ...deps, registry }
  const serving = new Set<string>()
  const again = new Set<string>()

  /** Sends the calls that wait for a connection of this process. */
  function serve(connection: TunnelConnection): void {
    const { id } = connection
    if (serving.has(id)) {
      again.add(id)
      return
    }
    serving.add(id)
    passWaitingCalls(parts, connection)
      .catch((err: unknown) => {
        deps.log.warn(
          { err, tunnel: connection.tunnelId },
          'calls through a tunnel could not be read',
        )
      })
      .finally(() => {
        serving.delete(id)
        if (again.delete(id)) serve(connection)
      })
  }

  return {
    ...bound(parts, { send: sendThroughTunnel }),
    serve,
  }
}

async function sendThroughTunnel(
  deps: RelayParts,
  tunnel: TunnelRow,
  call: TunnelCall,
): Promise<TunnelResponse> {
  const connection = deps.registry().find(tunnel.id)
  if (connection?.isOpen) {
    try {
      return await connection.send(deps.ids.next('call'), call.request, call.signal)
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw toOutgoingError(error)
      if (!call.repeatable) throw broken()
    }
  }
  return await sendByRow(deps, tunnel.id, call)
}

/** Whether a tunnel is connected, or was so recently that its tool is probably connecting again. */
function isReachable({ clock, limits }: RelayDeps, tunnel: TunnelRow | undefined): boolean {
  if (tunnel === undefined) return false
  if (isConnected(tunnel, clock.now())) return true
  const since = tunnel.disconnected_at ?? tunnel.lease_until
  return since !== null && since > isoTime(clock.now() - limits.reconnectMs)
}

async function sendByRow(
  deps: RelayParts,
  tunnelId: string,
  call: TunnelCall,
): Promise<TunnelResponse> {
  if (!isReachable(deps, await findTunnel(deps.db, tunnelId))) throw away()
  const id = deps.ids.next('call')
  await deps.run(async (tx) => {
    const waiting = await calls.countCalls(tx, tunnelId, isoTime(deps.clock.now()))
    if (waiting >= deps.limits.requests) {
      throw new OutgoingError(
        'connection',
        `The tunnel has ${deps.limits.requests} calls without a response. The operator can raise BOTSTEAD_MAX_TUNNEL_REQUESTS.`,
      )
    }
    await calls.insertCall(tx, {
      id,
      tunnel_id: tunnelId,
      state: 'waiting',
      connection: null,
      repeatable: encodeBoolean(call.repeatable),
      request: deps.sealer.seal(encodeJson(call.request)),
      result: null,
      expires_at: isoTime(call.deadline),
    })
  })
  try {
    return await resultOf(deps, id, tunnelId, call)
  } finally {
    await deps
      .run((tx) => calls.deleteCall(tx, id))
      .catch((err: unknown) => {
        // It expires.
        deps.log.warn({ err, call: id }, 'a call through a tunnel could not be deleted')
      })
  }
}

async function resultOf(
  deps: RelayParts,
  id: string,
  tunnelId: string,
  { signal }: TunnelCall,
): Promise<TunnelResponse> {
  const registry = deps.registry()
  for (;;) {
    signal.throwIfAborted()
    const row = await calls.findCall(deps.db, id)
    if (row === undefined) throw broken()
    if (row.state === 'ended' && row.result !== null) {
      const result = decodeJson<Result>(deps.sealer.open(row.result))
      if ('response' in result) return result.response
      throw new OutgoingError(result.failure, result.message)
    }
    const tunnel = await findTunnel(deps.db, tunnelId)
    if (row.state === 'sent' && !hasConnectionOf(deps, tunnel, row)) {
      // The process that sent it has died, or cannot store the end.
      await restoreCall(deps, row)
    } else if (row.state === 'waiting') {
      if (isReachable(deps, tunnel)) registry.announce(tunnelId)
      // Unless a process has taken the call since its row was read.
      else if (await deps.run((tx) => calls.patchCall(tx, row, { state: 'ended' }))) throw away()
      else continue
    }
    await registry.waits.next({ topic: callTopic, key: id }, lookMs, signal)
  }
}

/** Whether the connection through which a call was sent is still that of the tunnel. */
function hasConnectionOf(
  { clock }: RelayDeps,
  tunnel: TunnelRow | undefined,
  { connection }: calls.CallRow,
): boolean {
  if (tunnel === undefined || tunnel.connection !== connection) return false
  return isConnected(tunnel, clock.now())
}

/** Lets a call wait for the next connection, or ends it if it must not be repeated. */
async function restoreCall(deps: RelayParts, row: calls.CallRow): Promise<void> {
  if (row.repeatable === 1) {
    await deps.run((tx) => calls.patchCall(tx, row, { state: 'waiting', connection: null }))
    deps.registry().announce(row.tunnel_id)
    return
  }
  const { failure, message } = broken()
  await endCall(deps, row, { failure, message })
}

async function endCall(
  { sealer, run, registry }: RelayParts,
  row: calls.CallRow,
  result: Result,
): Promise<void> {
  const sealed = sealer.seal(encodeJson(result))
  await run((tx) => calls.patchCall(tx, row, { state: 'ended', result: sealed }))
  registry().hint(callTopic, row.id)
}

/** Sends a call of another process. */
async function passCall(
  deps: RelayParts,
  connection: TunnelConnection,
  waiting: calls.CallRow,
): Promise<void> {
  const row = { ...waiting, state: 'sent', connection: connection.id } as const
  const taken = { state: row.state, connection: row.connection }
  if (!(await deps.run((tx) => calls.patchCall(tx, waiting, taken)))) return
  const request = decodeJson<TunnelRequest>(deps.sealer.open(row.request))
  const left = Math.max(0, Date.parse(row.expires_at) - deps.clock.now())
  try {
    const response = await connection.send(row.id, request, AbortSignal.timeout(left))
    await endCall(deps, row, { response })
  } catch (error) {
    if (error instanceof ConnectionLostError) return await restoreCall(deps, row)
    // Past the deadline, nobody waits for the end.
    if (error instanceof DOMException) return
    const { failure, message } = toOutgoingError(error)
    await endCall(deps, row, { failure, message })
  }
}

async function passWaitingCalls(deps: RelayParts, connection: TunnelConnection): Promise<void> {
  for (;;) {
    if (!connection.isOpen) return
    const now = isoTime(deps.clock.now())
    const rows = await calls.listWaiting(deps.db, connection.tunnelId, now, takenAtOnce)
    if (rows.length === 0) return
    for (const row of rows) {
      passCall(deps, connection, row).catch((err: unknown) => {
        deps.log.warn({ err, call: row.id }, 'a call through a tunnel could not be passed on')
      })
    }
    await deps.registry().waits.next({ topic: tunnelTopic, key: connection.tunnelId }, 50)
  }
}

function toOutgoingError(error: unknown): OutgoingError {
  if (error instanceof OutgoingError) return error
  if (error instanceof ConnectionLimitError) return new OutgoingError('connection', error.message)
  throw error
}
