import { ApiError } from '@botstead/contract'
import type { RawRequest, RawResponse } from '../../../http/raw-routes.js'
import { storableText } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { findInstallationOfAccount, type InstallationRow } from '../../bots/installations/index.js'
import type { IntegrationLogs, KnownIntegrations } from '../../bots/integrations/index.js'
import {
  ScriptError,
  ScriptLimitError,
  type ScriptRun,
  type Scripts,
  ScriptsBusyError,
} from '../scripts/index.js'
import type { SharedAddress, SharedAddresses } from '../shared-addresses/index.js'
import { type Addressee, type OutsideRequest, pathAfter } from './address.js'

export interface ChoosingDeps {
  db: Db
  integrations: {
    known: Pick<KnownIntegrations, 'of'>
    logs: Pick<IntegrationLogs, 'writeLine'>
  }
  scripts: Pick<Scripts, 'run'>
  sharedAddresses: Pick<SharedAddresses, 'find'>
}

/** The responder to a request at a shared address. */
type Choice =
  | { by: 'installation'; row: InstallationRow; path: string }
  /** A script of the integration did, for a request that belongs to no account, such as a verification. */
  | { by: 'script'; response: RawResponse }

/** The owner of a script that runs, and the source of its data. */
type Asker = Pick<ScriptRun, 'workspaceId' | 'owner' | 'caller'>

const maxIdentifierLength = 500
const fallbackFailed =
  'This request belongs to no installation, and the script of the integration that responds to such requests failed.'

/** Chooses the installation for a request at an address that all installations of an integration share. */
export function createChooser({ db, integrations, scripts, sharedAddresses }: ChoosingDeps) {
  /** The integration with the longest name that an address begins with, and what follows the name. */
  async function findAddress({ segments, rest }: Extract<Addressee, { to: 'shared' }>) {
    for (let count = segments.length; count > 0; count--) {
      const found = await sharedAddresses.find(segments.slice(0, count).join('/'))
      if (found !== undefined) return { found, path: pathAfter(count, rest) }
    }
    const [first = '', second = ''] = segments
    const names = second === '' ? first : `${first}/${second}, and none ${first},`
    throw new ApiError(
      'ResourceNotFound',
      `No integration ${names} has scripts that assign requests at this address to an installation.`,
    )
  }

  async function runScript(asker: Asker, script: string, data: object) {
    return (await scripts.run({ ...asker, script, data: { ...data } })).result
  }

  /** The account that a request is about; undefined, with the reason, if the script finds none. */
  async function extract(asker: Asker, script: string | undefined, data: object) {
    if (script === undefined)
      return { reason: 'the integration has no script that finds the account' }
    try {
      const result = await runScript(asker, script, data)
      const isText = typeof result === 'string' || typeof result === 'number'
      const identifier = isText ? storableText(String(result).slice(0, maxIdentifierLength)) : ''
      return identifier === '' ? { reason: 'the script found no account' } : { identifier }
    } catch (error) {
      // The other service repeats what did not succeed: a request with an account must not get another response.
      if (!(error instanceof ScriptError) || error instanceof ScriptLimitError) throw error
      return { reason: `the script failed: ${error.message}` }
    }
  }

  /** @param shown what the caller, who may be anybody, learns of the reason */
  function refuse(
    { integrationId }: SharedAddress,
    reason: string,
    requestId: string,
    shown = 'This request belongs to no installation.',
  ): never {
    integrations.logs.writeLine({
      integrationId,
      botId: '',
      level: 'error',
      message: `webhook at the shared address failed: ${reason} (request ${requestId})`,
    })
    throw new ApiError(
      'ResourceNotFound',
      `${shown} The log of the integration records the reason with the id of this response.`,
    )
  }

  async function respond(asker: Asker, script: string, data: object) {
    return toResponse(await runScript(asker, script, data))
  }

  return async function choose(
    addressee: Extract<Addressee, { to: 'shared' }>,
    request: OutsideRequest,
    { requestId, caller }: Pick<RawRequest, 'requestId' | 'caller'>,
  ): Promise<Choice> {
    const { found, path } = await findAddress(addressee)
    const integration = await integrations.known.of(found.integrationId)
    const { extractScript, fallbackHandlerScript } = integration?.definition.identifier ?? {}
    const data = { ...request, path }
    const owner = `integration ${found.integrationId}`
    const asker = { workspaceId: integration?.workspaceId ?? '', owner, caller }
    try {
      const account = await extract(asker, extractScript, data)
      if (account.identifier !== undefined) {
        const row = await findInstallationOfAccount(db, found.versionIds, account.identifier)
        if (row !== undefined) return { by: 'installation', row, path }
        refuse(found, `no installation has the account ${account.identifier}`, requestId)
      }
      if (fallbackHandlerScript === undefined) refuse(found, account.reason, requestId)
      return { by: 'script', response: await respond(asker, fallbackHandlerScript, data) }
    } catch (error) {
      if (error instanceof ScriptLimitError || error instanceof ScriptsBusyError) {
        throw new ApiError(
          'RateLimited',
          'The request cannot be assigned now: repeat it in a minute.',
          {
            cause: error,
          },
        )
      }
      if (error instanceof ScriptError) {
        const reason = `the fallback script failed: ${error.message}`
        refuse(found, reason, requestId, fallbackFailed)
      }
      throw error
    }
  }
}

/** The response that a fallback script returned: status, headers and body, of which each may be missing. */
function toResponse(result: unknown): RawResponse {
  const { status = 200, headers = {}, body = '' } = Object(result)
  const isStatus = Number.isInteger(status) && status >= 200 && status <= 599
  const texts = Object.entries(Object(headers)).flatMap(([name, value]) =>
    typeof value === 'string' &&
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
    !/[^\t\x20-\x7e\x80-\xff]/.test(value)
      ? [[name.toLowerCase(), value] as const]
      : [],
  )
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    status: isStatus ? status : 200,
    headers: Object.fromEntries(texts),
    body: Buffer.from(text),
  }
}
