import { ApiError, contract, type Output } from '@botstead/contract'
import type { Addresses } from '../../../domain/addresses.js'
import { route } from '../../../http/mount.js'
import type { Signer } from '../../../platform/security/signing.js'
import type { Feature } from '../../feature.js'
import { createVersionsService, type VersionRecord, type VersionsDeps } from './service.js'
import { listBundles } from './store.js'

type WireVersion = Output<typeof contract.botVersions.create>['version']

interface Deps extends VersionsDeps {
  addresses: Pick<Addresses, 'base'>
  /** Signs with a key that serves no other purpose. */
  signer: Signer
}

/** Milliseconds for which the signed address of code is valid. */
const addressLifetime = 60 * 60 * 1000

/** Versions of bots whose code runs here. */
export function createVersions({ addresses, signer, ...deps }: Deps): Feature {
  const service = createVersionsService(deps)

  function addressOf(id: string): string {
    const signature = signer.sign(id, deps.clock.now() + addressLifetime)
    return `${addresses.base()}/bot-versions/${id}/code?signature=${signature}`
  }

  function requireSigned(id: string, signature: string): void {
    const verified = signer.verify(signature)
    if (verified.ok && verified.value === id) return
    throw new ApiError(
      'Forbidden',
      'This address is not valid or no longer valid: get the version to have a new one.',
    )
  }

  return {
    name: 'bot versions',
    purge: service.purge,
    on: {
      'bot.transferring': async (tx, { botId, bundles }) => {
        for (const hash of await listBundles(tx, botId)) bundles.add(hash)
      },
      'bot.transferred': service.move,
    },
    routes: [
      route(contract.botVersions.list, async ({ actor, params }) => ({
        versions: (await service.list(actor, params.id)).map(toVersion),
      })),

      route(contract.botVersions.create, async ({ actor, params, body, once }) =>
        once<VersionRecord>(
          (remember) => service.create(actor, params.id, body, remember),
          (made) => ({ version: toVersion(made) }),
        ),
      ),

      route(contract.botVersions.get, async ({ actor, params }) => {
        await service.require(actor, params.id, params.versionId)
        return { url: addressOf(params.versionId) }
      }),

      route(contract.botVersions.deploy, async ({ actor, params, body }) => {
        await service.deploy(actor, params.id, body.versionId)
        return {}
      }),

      route(contract.botVersions.remove, async ({ actor, params }) => {
        await service.remove(actor, params.id, params.versionId)
        return {}
      }),

      route(contract.botVersions.download, async ({ params, query }) => {
        requireSigned(params.versionId, query.signature)
        const { id, code } = await service.download(params.versionId)
        const body = Buffer.from(code)
        return {
          status: 200,
          headers: {
            'content-type': 'text/javascript; charset=utf-8',
            'content-length': body.length,
            'content-disposition': `attachment; filename="${id}.cjs"`,
            'cache-control': 'private, no-store',
            'x-content-type-options': 'nosniff',
            'content-security-policy': "sandbox; default-src 'none'",
          },
          open: async () => body,
        }
      }),
    ],
  }
}

function toVersion({ version, deployed }: VersionRecord): WireVersion {
  return {
    id: version.id,
    name: version.name,
    ...(version.description !== null && { description: version.description }),
    createdAt: version.created_at,
    codeSize: version.code_size,
    deployed,
  }
}
