import { ApiError } from '@botstead/contract'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import { gauge } from '../../../platform/telemetry/metrics.js'
import type { Feature } from '../../feature.js'
import { deleteExpiredCalls } from './call-store.js'
import { type ClaimsDeps, createClaims, type ReceiverIds, type TunnelReceiver } from './claims.js'
import { type TunnelAddress, tunnelAddressOf, tunnelIdOf } from './protocol.js'
import { Registry, type RegistryDeps, type TunnelLimits } from './registry.js'
import { createRelay, type RelayDeps } from './relay.js'
import * as store from './store.js'

export interface TunnelsDeps extends RegistryDeps, RelayDeps, ClaimsDeps {
  /** Calls to all other addresses. */
  outgoing: Outgoing
  limits: TunnelLimits
}

export interface Tunnels extends Feature {
  /** Like the given one, but calls to addresses of tunnels go through these, wherever they are connected. */
  outgoing: Outgoing
}

/**
 * Operations that receivers get at least once in any case. Others, such as actions, may have had an effect
 * before the connection broke, and their caller decides about another attempt.
 */
const repeatable = new Set([
  'ping',
  'register',
  'unregister',
  'event_received',
  'message_created',
  'message_updated',
  'conversation_updated',
])

/** Characters of a key: it stands in an address, and must not be easy to try. */
const keyPattern = /^[A-Za-z0-9_-]{16,128}$/

const day = 24 * 60 * 60 * 1000
/** Milliseconds for which a tunnel without a connection keeps its workspace and its key. */
const keptMs = 30 * day
const rowsAtOnce = 500

/**
 * Development tunnels: connections that tools on the machines of developers open, and through which the server
 * calls the bots and integrations there. They carry calls of this server only.
 */
export function createTunnels(deps: TunnelsDeps): Tunnels {
  const { db, clock, log, outgoing, limits } = deps
  const claims = createClaims(deps)
  const relay = createRelay(deps, (): Registry => registry)
  const registry = new Registry(deps, relay.serve)

  async function send(url: string, request: OutgoingRequest): Promise<OutgoingResponse> {
    const address = tunnelAddressOf(url)
    if (address === undefined) return await outgoing.send(url, request)
    const receiver = await claims.findReceiver(idsIn(request.headers))
    // Services have random ids in their addresses too, and others may know them: whoever opened a tunnel with such an
    // id would get the calls.
    const isHere = claims.isHere(url)
    if (!isHere && !receiver?.isDev) return await outgoing.send(url, request)
    const tunnel = await store.findTunnel(db, address.id)
    if (tunnel !== undefined) return await sendThrough(tunnel, receiver, address, request)
    if (!isHere) return await outgoing.send(url, request)
    throw new OutgoingError(
      'connection',
      'There is no development tunnel with this id: bp dev was not started with the address of this server.',
    )
  }

  async function sendThrough(
    tunnel: store.TunnelRow,
    receiver: TunnelReceiver | undefined,
    { path, query }: TunnelAddress,
    { method, headers, body = '', timeoutMs, maxResponseBytes, signal }: OutgoingRequest,
  ): Promise<OutgoingResponse> {
    await claims.require(tunnel, receiver)
    const end = new AbortController()
    const timer = setTimeout(() => {
      end.abort(new OutgoingError('timeout', `No answer within ${timeoutMs} ms.`))
    }, timeoutMs)
    try {
      const response = await relay.send(tunnel, {
        request: { method, path, query, headers, body: textOf(body) },
        repeatable: repeatable.has(headers['x-bp-operation'] ?? ''),
        deadline: clock.now() + timeoutMs,
        signal: signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]),
      })
      const bytes = Buffer.from(response.body)
      const cut = bytes.length > maxResponseBytes
      return { ...response, body: cut ? bytes.subarray(0, maxResponseBytes) : bytes, cut }
    } finally {
      clearTimeout(timer)
    }
  }

  async function claimLater(tx: Tx, ids: ReceiverIds): Promise<void> {
    afterCommit(tx, () => {
      claims.claim(ids).catch((err: unknown) => {
        // The first call tries again, and reports the failure to its caller.
        log.debug({ err, ...ids }, 'a tunnel could not be claimed')
      })
    })
  }

  const isOn = limits.maxTunnels > 0
  return {
    name: 'tunnels',
    outgoing: { ...outgoing, send },
    ...(isOn && {
      rawSockets: [
        {
          paths: ['/tunnel/:id', '/tunnel/:key/:id'],
          maxTextBytes: limits.messageBytes,
          admit: async ({ params, address }) =>
            await registry.admit({ ...openingOf(params), address }),
          refuse: refuseOutsiders,
        },
      ],
      rawRoutes: [
        {
          paths: ['/tunnel', '/tunnel/*', uuidPath, `${uuidPath}/*`],
          bodyLimit: 1024,
          handle: async () => refuseOutsiders(),
        },
      ],
    }),
    on: {
      'bot.deployed': (tx, { botId }) => claimLater(tx, { botId }),
      'integration.changed': (tx, { integrationId }) => claimLater(tx, { integrationId }),
      'workspace.removed': async (tx, { workspaceId }) => {
        const ids = await store.deleteTunnelsOf(tx, workspaceId)
        afterCommit(tx, () => {
          for (const id of ids) registry.announce(id)
        })
      },
    },
    sweeps: [
      (tx) => store.deleteOldTunnels(tx, isoTime(clock.now() - keptMs), rowsAtOnce),
      (tx) => deleteExpiredCalls(tx, isoTime(clock.now()), rowsAtOnce),
    ],
    metrics: [
      gauge({ name: 'botstead_tunnels', help: 'Development tunnels of this process.' }, () =>
        registry.count(),
      ),
    ],
    open: async () => registry.start(),
    drain: () => registry.drain(),
    stop: (timeLeft) => registry.stop(timeLeft),
  }
}

/** Tools send a bot to `/<id>`, whatever path the address of the tunnel server has. */
const uuidPath =
  '/:id(^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$)'

function openingOf({ id: given = '', key = '' }: Readonly<Record<string, string>>) {
  const id = tunnelIdOf(given)
  if (id === undefined) {
    throw new ApiError(
      'InvalidIdentifier',
      'The id of a tunnel must be a random UUID (version 4), which nobody can guess.',
    )
  }
  if (key !== '' && !keyPattern.test(key)) {
    throw new ApiError(
      'InvalidIdentifier',
      'The key of a tunnel has 16 to 128 letters, digits, - and _.',
    )
  }
  return { id, key }
}

function refuseOutsiders(): never {
  throw new ApiError(
    'Forbidden',
    'This is an address of development tunnels, which carry calls of this server only. bp dev opens a WebSocket here.',
  )
}

/** The receiver of a call, by the headers that the server sets on every call to a bot or an integration. */
function idsIn(headers: Readonly<Record<string, string>>): ReceiverIds {
  return { botId: headers['x-bot-id'], integrationId: headers['x-integration-id'] }
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
}
