import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import type { WebchatSettingsService } from './service.js'

export {
  createWebchatSettings,
  type WebchatSettingsDeps,
  type WebchatSettingsService,
} from './service.js'

export function webchatSettingsRoutes(service: WebchatSettingsService): Route[] {
  return [
    route(contract.botWebchat.getCode, async ({ actor, params, query }) => ({
      code: await service.code(actor, params.id, query.type),
    })),

    route(contract.botWebchat.getSettings, async ({ actor, params }) => ({
      webchat: await service.get(actor, params.id),
    })),

    route(contract.botWebchat.updateSettings, async ({ actor, params, body }) => ({
      webchat: await service.update(actor, params.id, body),
    })),
  ]
}
