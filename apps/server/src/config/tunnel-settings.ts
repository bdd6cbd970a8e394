import { bytes, duration, integer, setting } from './setting-kinds.js'

/** Development tunnels, through which the server calls programs on the machines of developers. */
export const tunnelSettings = {
  maxTunnels: setting('BOTSTEAD_MAX_TUNNELS', integer(0, 100_000), {
    default: '500',
    meaning: 'Development tunnels of one process; 0 turns them off.',
  }),
  perAddress: setting('BOTSTEAD_MAX_TUNNELS_PER_ADDRESS', integer(1, 100_000), {
    default: '20',
    meaning: 'Of those, the ones from one network address.',
  }),
  perWorkspace: setting('BOTSTEAD_MAX_TUNNELS_PER_WORKSPACE', integer(1, 100_000), {
    default: '50',
    meaning: 'Development tunnels of one workspace, over all processes.',
  }),
  requests: setting('BOTSTEAD_MAX_TUNNEL_REQUESTS', integer(1, 10_000), {
    default: '100',
    meaning: 'Calls that wait for responses through one development tunnel.',
  }),
  messageBytes: setting('BOTSTEAD_MAX_TUNNEL_MESSAGE_BYTES', bytes('64KiB', '100MiB'), {
    default: '8MiB',
    meaning: 'One call or response through a development tunnel, in JSON.',
  }),
  reconnectMs: setting('BOTSTEAD_TUNNEL_RECONNECT', duration('0', '5m'), {
    default: '15s',
    meaning:
      'Time for which calls wait for a development tunnel that lost its connection; those that may be repeated are then sent again.',
  }),
}
