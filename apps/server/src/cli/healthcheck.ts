import { Command, InvalidArgumentError } from 'commander'
import { loadConfig, localAddress } from '../config/config.js'
import { notices, out } from './terminal.js'

/** Maximum wait that can be asked for, in seconds. */
const maxWaitSeconds = 300

/**
 * `botstead healthcheck`: whether the server on this machine is ready, as an exit status, for containers and
 * supervisors. It calls the port, not the public address, because a proxy in front of the server is not what it checks.
 */
export function healthcheckCommand(): Command {
  return new Command('healthcheck')
    .description('Exit with 0 if the server on this machine is ready, else with 1 and the reason.')
    .option('--url <address>', 'server to check instead of the one at HOST and PORT')
    .option('--timeout <seconds>', 'how long the response may take', toSeconds, 5)
    .action(async ({ url, timeout }: { url?: string; timeout: number }) => {
      const { config } = loadConfig(undefined, { envFile: '.env' })
      const base = (url ?? localAddress(config.host, config.port)).replace(/\/+$/, '')
      const reason = await reasonNotReady(`${base}/readyz`, timeout * 1000)
      if (reason === undefined) {
        out.line('ready')
        return
      }
      notices.line(`not ready: ${reason}`)
      process.exitCode = 1
    })
}

/** The reason why a server is not ready; undefined if it is. */
async function reasonNotReady(address: string, milliseconds: number): Promise<string | undefined> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(milliseconds) })
    const body: unknown = await response.json().catch(() => undefined)
    if (response.ok) return undefined
    const { message } = Object(body)
    return typeof message === 'string' ? message : `${address} returns ${response.status}.`
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      return `${address} does not respond within ${milliseconds / 1000} seconds.`
    }
    return `No server responds at ${address}.`
  }
}

function toSeconds(text: string): number {
  const seconds = Number(text)
  if (seconds > 0 && seconds <= maxWaitSeconds) return seconds
  throw new InvalidArgumentError(`It must be a number above 0, at most ${maxWaitSeconds}.`)
}
