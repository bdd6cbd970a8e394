import type { Hosting } from '../features/hosting/index.js'
import type { Outgoing } from '../platform/outgoing/outgoing.js'
import { type Tracing, traceCall, traceOutgoing } from '../platform/telemetry/tracing.js'

/** Calls to addresses and to deployed code, as part of traces where there are any. */
export function tracedCalls(
  tracing: Tracing | undefined,
  outgoing: Outgoing,
  hosting: Hosting,
): { outgoing: Outgoing; hosting: Hosting } {
  if (tracing === undefined) return { outgoing, hosting }
  const send: Hosting['send'] = (owner, request, options) =>
    traceCall(
      tracing,
      request,
      () => ({ 'botstead.code.type': owner.type, 'botstead.code.id': owner.id }),
      (traced) => hosting.send(owner, traced, options),
    )
  return { outgoing: traceOutgoing(tracing, outgoing), hosting: { ...hosting, send } }
}
